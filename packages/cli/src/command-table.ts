import type { Command } from './command.js';

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
    load: () => import('./commands/samples-rules.js'),
  },
  {
    usage: 'samples keep',
    summary: 'Keep steps from now on',
    load: () => import('./commands/samples-keep.js'),
  },
  {
    usage: 'samples stop <rule>',
    summary: 'Keep no more steps of a rule',
    load: () => import('./commands/samples-stop.js'),
  },
  {
    usage: 'samples list',
    summary: 'List steps that were kept',
    load: () => import('./commands/samples-list.js'),
  },
  {
    usage: 'samples show <decision>',
    summary: 'Print a step that was kept',
    load: () => import('./commands/samples-show.js'),
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
    load: () => import('./commands/events-search.js'),
  },
  {
    usage: 'events export',
    summary: 'Print events, one JSON object per line',
    load: () => import('./commands/events-export.js'),
  },
  {
    usage: 'approvals list',
    summary: 'List approvals',
    load: () => import('./commands/approvals-list.js'),
  },
  {
    usage: 'approvals approve <id>',
    summary: 'Let a step run',
    load: () => import('./commands/approvals-approve.js'),
  },
  {
    usage: 'approvals deny <id>',
    summary: 'Keep a step from running',
    load: () => import('./commands/approvals-deny.js'),
  },
  {
    usage: 'halt list',
    summary: 'List halts',
    load: () => import('./commands/halt-list.js'),
  },
  {
    usage: 'halt set <scope>',
    summary: 'Deny steps at once, whatever the controls say',
    load: () => import('./commands/halt-set.js'),
  },
  {
    usage: 'halt lift <id>',
    summary: 'End a halt',
    load: () => import('./commands/halt-lift.js'),
  },
  {
    usage: 'keys list',
    summary: 'List keys',
    load: () => import('./commands/keys-list.js'),
  },
  {
    usage: 'keys create <name>',
    summary: 'Create a key, and print it once',
    load: () => import('./commands/keys-create.js'),
  },
  {
    usage: 'keys rotate <id>',
    summary: 'Give a key a new secret',
    load: () => import('./commands/keys-rotate.js'),
  },
  {
    usage: 'keys revoke <id>',
    summary: 'Withdraw a key at once',
    load: () => import('./commands/keys-revoke.js'),
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
