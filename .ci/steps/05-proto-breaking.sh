# The contract only grows: nothing that callers rely on changes (baseline: npm run baseline)
npm run breaking
