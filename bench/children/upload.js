// One upload: its wall time, and the most memory the process ever held.
import { peakBytes } from "../peakBytes.js";

const { client, baseUrl, path, bytes, options } = JSON.parse(process.argv[2]);
const figures = client ? await upload() : {};
console.log(JSON.stringify({ ...figures, peakBytes: peakBytes() }));
process.exit(0);

async function upload() {
  const { open } = await import(`../clients/${client}.js`);
  const opened = open(baseUrl);
  const started = performance.now();
  try {
    const response = await opened.upload(path, options);
    const milliseconds = performance.now() - started;
    return response.bytes < bytes ? { error: `Only ${response.bytes} bytes arrived.` } : { milliseconds };
  } catch (error) {
    return { error: error.message };
  }
}
