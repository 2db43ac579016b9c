/** The thread that reads events, but messages with certain texts end it, or keep it busy. JavaScript, because it runs as it is. */
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { parentPort } from 'node:worker_threads';

const ENTRY = 'src/serve/event-reading/event-reader-thread.js';

parentPort?.on('message', ({ bytes }) => {
  if (Buffer.from(bytes).includes('the thread ends here')) process.exit(3);
  while (Buffer.from(bytes).includes('the thread is stuck here'));
});
await import(String(pathToFileURL(path.join(process.env.TEST_COMPILED_FOLDER ?? '', ENTRY))));
