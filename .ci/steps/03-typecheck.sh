# Everything, tests and examples too, not only what ships
npm run typecheck
