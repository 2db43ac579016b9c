/** What scopes allow, each as the end of a sentence that begins with `It can`. */
const WORDS: Readonly<Record<string, string>> = {
  'agents.read': 'list all agents and read their registrations',
  'agents.register': 'register agents',
  'agents.self': 'read an agent by its name, with its controls',
  'agents.write': 'change agents: link controls, give policies, delete them',
  'approvals.decide': 'decide about steps that wait for an approval',
  'approvals.read': 'read approvals, with the steps that they are about',
  'audit.read': 'read and export the audit log',
  'audit.verify': 'verify the audit log',
  'bindings.read': 'see which controls are bound to targets',
  'bindings.write': 'bind controls to targets',
  'controls.read': 'read controls and their versions',
  'controls.validate': 'check definitions and preview templates',
  'controls.write': 'create, change and delete controls',
  evaluate: 'evaluate steps',
  'events.flush': 'have waiting events stored at once',
  'events.read': 'read events and statistics',
  'events.write': 'send events',
  explain: 'try steps in the playground',
  'keys.read': 'see the keys of the namespace',
  'keys.write': 'create, rotate and revoke keys',
  'namespaces.read': 'see and export all namespaces',
  'namespaces.write': 'create, rename and delete namespaces',
  'notifications.read': 'see where notifications are sent, and what became of them',
  'notifications.write': 'change where notifications are sent, and send them again',
  'policies.read': 'read policies',
  'policies.write': 'create, change and delete policies',
  'server.read': 'see how the service is',
  'tokens.exchange': 'get tokens that evaluate for one target',
};

/** All scopes that have words, sorted. */
export const WORDED_SCOPES: readonly string[] = Object.keys(WORDS);

/** What a scope allows; the scope itself if it is one of a later version. */
export function scopeWords(scope: string): string {
  return WORDS[scope] ?? scope;
}
