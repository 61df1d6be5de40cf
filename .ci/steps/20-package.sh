# The package as a user gets it: packed, installed in an empty folder without development dependencies, then run.
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
npm pack --ignore-scripts --pack-destination "$folder"
cd "$folder"
echo '{ "name": "somebody", "private": true, "type": "module" }' >package.json
CC=/bin/false CXX=/bin/false npm install --no-audit --no-fund ./punctual-*.tgz
npx --no-install punctual --version
node --eval '
  const entries = ["punctual", "punctual/handlers", "punctual/testing"]
  for (const name of entries) console.log(name, "exports", Object.keys(await import(name)).join(", "))
' --input-type=module
