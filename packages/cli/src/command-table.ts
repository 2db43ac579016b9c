import type { Command } from './command.js';

/** The name of the program. */
export const NAME = 'control-enforcement';

/** A command in the list of `--help`, which is loaded when it is used. */
export interface CommandEntry {
  /** Its words, then its arguments as yargs names them: `<needed>`, `[optional]`, `<several..>`. */
  readonly usage: string;
  readonly summary: string;
  load(): Promise<{ readonly command: Command }>;
}

/** First words of commands of two words. */
export const GROUPS: { readonly [word: string]: string } = {
  samples: 'Choose which steps are kept for replays, and look at them',
  watch: 'Print events or controls as they change',
  events: 'Find and export events',
  approvals: 'List and decide approvals',
  halt: 'List, set and lift halts',
  keys: 'List, create, rotate and revoke keys',
};

/** Headings of `--help`, each above the commands from this one on. */
export const HEADINGS: { readonly [word: string]: string } = {
  init: 'Files',
  test: 'Tests',
  diff: 'Files and the server',
  replay: 'Effect of a change',
  get: 'The server',
  mcp: 'Gateways',
  login: 'This command',
};

/** All commands, in the order in which `--help` lists them. Those of a group are together. */
export const COMMANDS: readonly CommandEntry[] = [
  {
    usage: 'init [folder]',
    summary: 'Make a folder with files to begin with',
    load: () => import('./commands/init.js'),
  },
  {
    usage: 'validate <files..>',
    summary: 'Check files without a server, by the rules of the service',
    load: () => import('./commands/validate.js'),
  },
  {
    usage: 'lint <files..>',
    summary: 'Find what is valid in files and probably not meant',
    load: () => import('./commands/lint.js'),
  },
  {
    usage: 'format <files..>',
    summary: 'Write files in canonical form; comments stay',
    load: () => import('./commands/format.js'),
  },
  {
    usage: 'test <files..>',
    summary: 'Run tests of controls',
    load: () => import('./commands/test.js'),
  },
  {
    usage: 'evaluate',
    summary: 'Evaluate a step by controls of files, or of a server',
    load: () => import('./commands/evaluate.js'),
  },
  {
    usage: 'explain',
    summary: 'Explain how conditions decide about a step',
    load: () => import('./commands/explain.js'),
  },
  {
    usage: 'bench',
    summary: 'Measure evaluations in this process, or of a server',
    load: () => import('./commands/bench.js'),
  },
  {
    usage: 'diff <files..>',
    summary: 'Compare files with what the server has: 0 same, 2 different, 1 error',
    load: () => import('./commands/diff.js'),
  },
  {
    usage: 'apply <files..>',
    summary: 'Make the server have what the files say, in one transaction',
    load: () => import('./commands/apply.js'),
  },
  {
    usage: 'export',
    summary: 'Write what the server has as documents',
    load: () => import('./commands/export.js'),
  },
  {
    usage: 'replay',
    summary: 'Evaluate recorded steps with proposed controls, and show what changes',
    load: () => import('./commands/replay.js'),
  },
  {
    usage: 'shadow <action> [control]',
    summary: 'Compare a proposed version of a control with it, then promote or drop it',
    load: () => import('./commands/shadow.js'),
  },
  {
    usage: 'samples rules',
    summary: 'List which steps are kept',
    load: async () => ({ command: (await import('./commands/samples.js')).listSamplingRules }),
  },
  {
    usage: 'samples keep',
    summary: 'Keep steps from now on',
    load: async () => ({ command: (await import('./commands/samples.js')).keepSamples }),
  },
  {
    usage: 'samples stop <rule>',
    summary: 'Keep no more steps of a rule',
    load: async () => ({ command: (await import('./commands/samples.js')).stopSamples }),
  },
  {
    usage: 'samples list',
    summary: 'List steps that were kept',
    load: async () => ({ command: (await import('./commands/samples.js')).listSamples }),
  },
  {
    usage: 'samples show <decision>',
    summary: 'Print a step that was kept',
    load: async () => ({ command: (await import('./commands/samples.js')).showSample }),
  },
  {
    usage: 'get <what> <name>',
    summary: 'Print one object',
    load: () => import('./commands/get.js'),
  },
  {
    usage: 'list <what>',
    summary: 'List objects of the server',
    load: () => import('./commands/list.js'),
  },
  {
    usage: 'watch events',
    summary: 'Print events as they happen',
    load: () => import('./commands/watch-events.js'),
  },
  {
    usage: 'watch controls <agent>',
    summary: 'Print the controls of an agent as they change',
    load: () => import('./commands/watch-controls.js'),
  },
  {
    usage: 'events search',
    summary: 'Find events',
    load: async () => ({ command: (await import('./commands/events.js')).searchEvents }),
  },
  {
    usage: 'events export',
    summary: 'Print events, one JSON object per line',
    load: async () => ({ command: (await import('./commands/events.js')).exportEvents }),
  },
  {
    usage: 'approvals list',
    summary: 'List approvals',
    load: async () => ({ command: (await import('./commands/approvals.js')).listApprovals }),
  },
  {
    usage: 'approvals approve <id>',
    summary: 'Let a step run',
    load: async () => ({ command: (await import('./commands/approvals.js')).approveStep }),
  },
  {
    usage: 'approvals deny <id>',
    summary: 'Keep a step from running',
    load: async () => ({ command: (await import('./commands/approvals.js')).denyStep }),
  },
  {
    usage: 'halt list',
    summary: 'List halts',
    load: async () => ({ command: (await import('./commands/halts.js')).listHalts }),
  },
  {
    usage: 'halt set <scope>',
    summary: 'Deny steps at once, whatever the controls say',
    load: async () => ({ command: (await import('./commands/halts.js')).setHalt }),
  },
  {
    usage: 'halt lift <id>',
    summary: 'End a halt',
    load: async () => ({ command: (await import('./commands/halts.js')).liftHalt }),
  },
  {
    usage: 'keys list',
    summary: 'List keys',
    load: async () => ({ command: (await import('./commands/keys.js')).listKeys }),
  },
  {
    usage: 'keys create <name>',
    summary: 'Create a key, and print it once',
    load: async () => ({ command: (await import('./commands/keys.js')).createKey }),
  },
  {
    usage: 'keys rotate <id>',
    summary: 'Give a key a new secret',
    load: async () => ({ command: (await import('./commands/keys.js')).rotateKey }),
  },
  {
    usage: 'keys revoke <id>',
    summary: 'Withdraw a key at once',
    load: async () => ({ command: (await import('./commands/keys.js')).revokeKey }),
  },
  {
    usage: 'mcp [action] [tools..]',
    summary: 'Run a gateway that has calls of MCP servers decided by the server',
    load: () => import('./commands/mcp.js'),
  },
  {
    usage: 'login',
    summary: 'Keep a key, or log in at an issuer, as a context',
    load: () => import('./commands/login.js'),
  },
  {
    usage: 'doctor',
    summary: 'Check connection, versions, clock, database, rights and certificate',
    load: () => import('./commands/doctor.js'),
  },
  {
    usage: 'completion <shell>',
    summary: 'Print a script that completes commands and options',
    load: () => import('./commands/completion.js'),
  },
];

/** The words of a command without its arguments. */
export function nameOf({ usage }: CommandEntry): string {
  return usage.replace(/ [<[].*$/, '');
}

/** The first word of a command of two words. */
export function groupOf(entry: CommandEntry): string | undefined {
  const [word = '', second] = nameOf(entry).split(' ');
  return second === undefined ? undefined : word;
}
