import { FORMATS } from './context.js';

/** The options of every command, as the parser takes them. */
export const GLOBAL_OPTIONS = {
  server: { type: 'string', describe: 'Address of the server, for example https://controls.example.com' },
  context: { type: 'string', describe: 'Name of a context that login has made' },
  namespace: { type: 'string', describe: 'Namespace that the key must be of, and the documents' },
  output: { type: 'string', choices: FORMATS, describe: 'Form of the output' },
  key: { type: 'string', describe: 'API key; others on this machine can see it. Better: login' },
} as const;
