import { stepOfFragment } from '../references/step-link.js';

const SAMPLE = {
  type: 'tool',
  name: 'send_mail',
  input: { text: 'card 4111111111111111' },
};

/** The step of an address: of its fragment, or one with the type and name of its parameters, or else a sample. */
export function initialStep(parameters: URLSearchParams, fragment: string): string {
  const linked = stepOfFragment(fragment);
  if (linked !== undefined) return linked;
  const [type, name] = [parameters.get('type'), parameters.get('name')];
  if (type === null && name === null) return JSON.stringify(SAMPLE, null, 2);
  const known = { type: type ?? 'tool', name: name ?? '' };
  return JSON.stringify({ ...known, input: known.type === 'tool' ? {} : '' }, null, 2);
}
