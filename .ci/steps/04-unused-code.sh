# Files, exports and dependencies that nobody uses
npm run knip
