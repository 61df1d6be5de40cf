# Six kills of a real server under load, with other faults in between (200: npm run chaos -- --kills 200). The seed is printed: it replays.
timeout 175 npm run chaos -- --kills 6
