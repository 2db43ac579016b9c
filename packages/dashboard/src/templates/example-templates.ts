import type { JsonObject } from '@bufbuild/protobuf';

/** A template to begin with. */
export interface ExampleTemplate {
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly template: JsonObject;
}

const FIELD = {
  type: 'string',
  label: 'Part of the step',
  description: 'Dotted path, for example input.text.',
  default: 'input.text',
};
/** Nothing is denied before one has seen what matches. */
const DECISION = {
  type: 'enum',
  label: 'On a match',
  description: 'observe records what matches; deny stops it.',
  allowed_values: ['observe', 'deny'],
  default: 'observe',
};

/** Templates that the dashboard offers where none is stored. */
export const EXAMPLE_TEMPLATES: readonly ExampleTemplate[] = [
  {
    id: 'deny-words',
    title: 'Deny words',
    description: 'Steps whose text has one of your words are recorded, and denied once you choose so.',
    template: {
      description: 'Records or denies steps whose text has one of the words.',
      parameters: {
        words: {
          type: 'string_list',
          label: 'Words',
          description: 'Whole words, in any case.',
          placeholder: ['confidential', 'project-x'],
        },
        field: FIELD,
        decision: DECISION,
      },
      definition_template: {
        execution: 'server',
        condition: {
          selector: { path: { $param: 'field' } },
          evaluator: { name: 'list', config: { values: { $param: 'words' }, match_mode: 'contains' } },
        },
        action: { decision: { $param: 'decision' } },
        tags: ['words'],
      },
    },
  },
  {
    id: 'deny-card-numbers',
    title: 'Deny card numbers',
    description:
      'Steps of some tools that carry a number like that of a payment card are recorded, and denied once you choose so.',
    template: {
      description: 'Records or denies steps with a number like that of a payment card.',
      parameters: {
        steps: {
          type: 'string_list',
          label: 'Names of the steps',
          description: 'Only these steps are checked.',
          placeholder: ['send_mail'],
        },
        field: FIELD,
        pattern: {
          type: 'regex_re2',
          label: 'Pattern of a number',
          default: '\\b(?:\\d[ -]?){13,16}\\b',
        },
        decision: DECISION,
      },
      definition_template: {
        execution: 'server',
        scope: { step_names: { $param: 'steps' }, stages: ['pre'] },
        condition: {
          selector: { path: { $param: 'field' } },
          evaluator: { name: 'regex', config: { pattern: { $param: 'pattern' } } },
        },
        action: { decision: { $param: 'decision' } },
        tags: ['payment'],
      },
    },
  },
  {
    id: 'steer-by-pattern',
    title: 'Steer by a pattern',
    description: 'Steps with a text that matches a pattern are sent back with guidance.',
    template: {
      description: 'Sends steps back with guidance if their text matches a pattern.',
      parameters: {
        pattern: {
          type: 'regex_re2',
          label: 'Pattern',
          description: 'RE2 syntax, found anywhere in the text.',
          placeholder: '(?i)refund',
        },
        guidance: {
          type: 'string',
          label: 'Guidance',
          description: 'What the agent is told to do instead.',
          ui_hint: 'textarea',
          placeholder: 'Ask a person to approve the refund first.',
        },
        field: FIELD,
      },
      definition_template: {
        execution: 'server',
        condition: {
          selector: { path: { $param: 'field' } },
          evaluator: { name: 'regex', config: { pattern: { $param: 'pattern' } } },
        },
        action: { decision: 'steer', steering_context: { message: { $param: 'guidance' } } },
      },
    },
  },
];
