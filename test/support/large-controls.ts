import type { seeder } from './seed.js';

/** Values in the list of each control. */
export const LARGE_VALUES = 20_000;

/** Controls of about 1.5 MB. */
function largeControl(control: number): object {
  const values = Array.from(
    { length: LARGE_VALUES },
    (_, index) => `a forbidden phrase of control ${control}, number ${index}, which is never said like this`,
  );
  return {
    execution: 'sdk',
    condition: { selector: { path: 'input' }, evaluator: { name: 'list', config: { values } } },
    action: { decision: 'deny' },
  };
}

/** Registers an agent and links it to large controls. Returns their ids, descending. */
export async function seedLargeControls(
  seed: ReturnType<typeof seeder>,
  agentName: string,
  controls: number,
): Promise<number[]> {
  await seed.agent(agentName);
  const ids: number[] = [];
  for (let index = 0; index < controls; index += 1) {
    const id = await seed.control(`large-${index}`, largeControl(index));
    await seed.link(agentName, id);
    ids.unshift(id);
  }
  return ids;
}
