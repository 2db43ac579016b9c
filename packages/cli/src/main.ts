import { run } from './run.js';
import type { TextOutput } from './surroundings.js';

/** As shells have it: 128 and the number of SIGINT. */
const INTERRUPTED = 130;

const end = new AbortController();

/** A stream of the process. What is written after its reader has gone is dropped. */
function outputOf(stream: NodeJS.WriteStream, onGone: (error: NodeJS.ErrnoException) => void): TextOutput {
  let isOpen = true;
  stream.on('error', (error) => {
    isOpen = false;
    onGone(error);
  });
  return {
    isTTY: stream.isTTY,
    columns: stream.columns,
    write: (text) =>
      isOpen ? new Promise((resolve) => stream.write(text, () => resolve())) : Promise.resolve(),
  };
}

let isInterrupted = false;
process.once('SIGINT', () => {
  isInterrupted = true;
  end.abort();
  // What does not end at once ends with the second one.
});

const surroundings = {
  stdin: process.stdin,
  stdout: outputOf(process.stdout, ({ code }) => {
    if (code !== 'EPIPE') process.exitCode = 1;
    end.abort();
  }),
  // Work goes on without its notes: a gateway must not end with the reader of its log.
  stderr: outputOf(process.stderr, () => {}),
  env: process.env,
  cwd: process.cwd(),
  signal: end.signal,
};
const code = await run(process.argv.slice(2), surroundings);
// Everything is written; connections that are kept open for other calls would keep the process.
if (isInterrupted) process.exit(INTERRUPTED);
// A reader that has gone, such as head, is no error of the command.
process.exit(end.signal.aborted ? process.exitCode : code);
