# oxlint, the format of TypeScript and of protos, buf lint
npm run lint
