/** The thread for large steps, but messages with a certain text end it. JavaScript, because it runs as it is. */
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { parentPort } from 'node:worker_threads';

const ENTRY = 'src/serve/heavy-steps/step-thread.js';

parentPort?.on('message', ({ bytes }) => {
  if (bytes !== undefined && Buffer.from(bytes).includes('the thread ends here')) process.exit(3);
});
await import(String(pathToFileURL(path.join(process.env.TEST_COMPILED_FOLDER ?? '', ENTRY))));
