/** Options of commands that evaluate one step. */
export const STEP_OPTIONS = {
  controls: {
    type: 'string',
    array: true,
    describe:
      'Files and folders with controls, to evaluate by in this process; without it, a server is asked',
  },
  agent: { type: 'string', describe: 'Whose step it is; its links decide which controls concern it' },
  step: { type: 'string', describe: 'File with the step, "-" for the standard input' },
  type: { type: 'string', describe: 'Type of the step; "tool" if none is given' },
  name: { type: 'string', describe: 'Name of the step' },
  input: { type: 'string', describe: 'Input of the step as JSON, or as a text' },
  result: { type: 'string', describe: 'Output of the step as JSON, or as a text' },
  stage: {
    type: 'string',
    choices: ['pre', 'post'],
    default: 'pre',
    describe: 'Before or after the step runs',
  },
  session: { type: 'string', describe: 'Session of the step' },
  'step-id': { type: 'string', describe: 'Id of the step' },
  now: {
    type: 'string',
    describe: 'The time of the evaluation, such as 2026-12-31T12:00:00Z; in this process only',
  },
} as const;

export interface StepArgs {
  readonly controls?: readonly string[] | undefined;
  readonly agent?: string | undefined;
  readonly step?: string | undefined;
  readonly type?: string | undefined;
  readonly name?: string | undefined;
  readonly input?: string | undefined;
  readonly result?: string | undefined;
  readonly stage: 'pre' | 'post';
  readonly session?: string | undefined;
  readonly stepId?: string | undefined;
  readonly now?: string | undefined;
}
