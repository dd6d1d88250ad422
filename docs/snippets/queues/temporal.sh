npm init -y
npm pkg set type=module
npm install tunerank @temporalio/activity @temporalio/client @temporalio/worker @temporalio/workflow
npm install --save-dev tsx typescript @types/node@20

npx tsx worker.ts

# or compiled:
npx tsc *.ts --outDir dist --module nodenext --target es2022 --skipLibCheck
node dist/worker.js
