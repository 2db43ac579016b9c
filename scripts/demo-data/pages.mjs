/**
 * Addresses of all pages of the dashboard that show the demonstration data, below `/ui`, by the name of their pictures.
 * `:trace` stands for the id of a trace.
 */
export const PAGES = {
  overview: '/?range=7d',
  live: '/live',
  events: '/events',
  trace: '/traces?id=:trace',
  agents: '/agents',
  'agents-uncovered': '/agents?controls=none',
  agent: '/agents/support-assistant',
  'agent-steps': '/agents/data-analyst?tab=steps',
  'agent-policies': '/agents/support-assistant?tab=policies',
  'agent-evaluators': '/agents/data-analyst?tab=evaluators',
  'agent-activity': '/agents/support-assistant?tab=activity',
  controls: '/controls',
  control: '/controls/5',
  'control-usage': '/controls/1?tab=usage',
  'control-versions': '/controls/3?tab=versions',
  'control-comparison': '/controls/3?tab=versions&from=1&to=2',
  'control-activity': '/controls/1?tab=activity',
  editor: '/controls/5/edit',
  'editor-new': '/controls/new',
  policies: '/policies',
  policy: '/policies/1',
  'policy-agents': '/policies/1?tab=agents',
  templates: '/templates',
  'template-new': '/templates/new',
  template: '/controls/10/template',
  evaluators: '/evaluators',
  evaluator: '/evaluators/regex',
  playground: '/playground?agent=support-assistant',
};
