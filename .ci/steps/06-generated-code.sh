# proto/generated is what the .proto files give today
npm run check:generated
