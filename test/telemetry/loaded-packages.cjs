// Names the packages of OpenTelemetry whose code was loaded, in whatever way, when the process ends.
const { Session } = require('node:inspector');

const names = new Set();
const session = new Session();
session.connect();
session.on('Debugger.scriptParsed', ({ params: { url } }) => {
  const name = /node_modules\/(@opentelemetry\/[^/]+)\//.exec(url)?.[1];
  if (name !== undefined) names.add(name);
});
session.post('Debugger.enable');
process.on('exit', () => process.stderr.write(`\nloaded: ${[...names].sort().join(' ')}\n`));
