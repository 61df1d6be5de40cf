# The README's test command
npm test
