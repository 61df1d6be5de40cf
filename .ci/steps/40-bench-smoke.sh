# Every measurement of the bench once, small: that it works, not what it says
timeout 180 npm run bench -- --smoke
timeout 60 npm run bench:schedulers -- --smoke
