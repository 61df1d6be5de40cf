# The README's test command
npm test
echo 'left to npm run test:long, which takes minutes:'
git ls-files '*.long.test.ts'
