/** The thread that reads events, but a message with a certain text ends it. JavaScript, because it runs as it is. */
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { parentPort } from 'node:worker_threads';

const ENTRY = 'src/transport/event-reading/event-reader-thread.js';

parentPort?.on('message', ({ bytes }) => {
  if (Buffer.from(bytes).includes('the thread ends here')) process.exit(3);
});
await import(String(pathToFileURL(path.join(process.env.TEST_COMPILED_FOLDER ?? '', ENTRY))));
