cd tunerank
npm ci
npm pack --pack-destination ..
cd ../my-project
npm install ../tunerank-*.tgz
