// Names the packages of OpenTelemetry whose code this process has loaded, in whatever way, when it ends.
const { Session } = require('node:inspector');
const { isMainThread } = require('node:worker_threads');

if (isMainThread) {
  const names = new Set();
  const session = new Session();
  session.connect();
  session.on('Debugger.scriptParsed', ({ params: { url } }) => {
    const name = /node_modules\/(@opentelemetry\/[^/]+)\//.exec(url)?.[1];
    if (name !== undefined) names.add(name);
  });
  session.post('Debugger.enable');
  process.on('exit', () => process.stderr.write(`\nloaded: ${[...names].sort().join(' ')}\n`));
}
