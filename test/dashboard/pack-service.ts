import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createClient } from '@connectrpc/connect';
import { Decision } from '../../gen/proto/enforcement/v1/control_pb.js';
import { ControlService } from '../../gen/proto/enforcement/v1/control_service_pb.js';
import { PackService } from '../../gen/proto/enforcement/v1/pack_service_pb.js';
import {
  adminTransport,
  type DashboardService,
  startDashboardService,
  startKeyedService,
} from './dashboard-service.js';

/** Name of the pack of an operator that the tests install. */
export const PACK = 'mail-guard';

/** A service with a pack that is installed in an older version, with changes of its own. */
export interface PackedService extends DashboardService {
  /** Id of the control that was changed here where the pack has not changed it. */
  readonly cardsId: number;
  /** Id of the control that was changed here and in the pack. */
  readonly wordsId: number;
}

/** A control of the pack that looks for a pattern in what tools get. */
const control = (name: string, title: string, pattern: string) => ({
  kind: 'Control',
  name,
  title,
  reason: `Finds ${title.toLowerCase()}; other spellings are not found.`,
  references: ['OWASP LLM02:2025 Sensitive Information Disclosure'],
  data: {
    execution: 'server',
    scope: { step_types: ['tool'], stages: ['pre'] },
    condition: { selector: { path: 'input.text' }, evaluator: { name: 'regex', config: { pattern } } },
    action: { decision: 'observe' },
  },
});
const cases = (of: string, text: string) => ({
  kind: 'Cases',
  control: of,
  defaults: { type: 'tool', name: 'send_mail', stage: 'pre', member: 'input.text' },
  matching: [text],
  other: [{ name: 'a harmless mail', text: 'hello' }],
});

const VERSIONS: Readonly<Record<string, readonly { readonly kind: string }[]>> = {
  '1.0.0': [
    control('cards', 'Card numbers', '\\b\\d{16}\\b'),
    control('words', 'Words', 'secret'),
    control('old', 'An old rule', 'old'),
  ],
  '1.1.0': [
    control('cards', 'Card numbers', '\\b\\d{15,16}\\b'),
    control('words', 'Words', 'secret|confidential'),
    control('fresh', 'A fresh rule', 'fresh'),
    cases('cards', 'card 4111111111111111'),
    cases('words', 'a secret word'),
    cases('fresh', 'fresh fish'),
  ],
};

/** Writes a version of the pack to a folder of packs. JSON is YAML, too. */
async function writePack(folder: string, version: string): Promise<void> {
  const place = path.join(folder, PACK);
  const head = {
    kind: 'Pack',
    name: PACK,
    version,
    title: 'Mail guard',
    description: 'Looks at what mails would give away.',
    tags: ['mail'],
  };
  await mkdir(place, { recursive: true });
  await writeFile(path.join(place, 'pack.yaml'), JSON.stringify(head));
  const documents = (VERSIONS[version] ?? []).map((document) => JSON.stringify(document));
  await writeFile(path.join(place, 'controls.yaml'), documents.join('\n---\n'));
}

/** Installs the older version with one service, changes two of its controls, and starts another with the newer one. */
export async function startPackedService(
  databaseUrl: string,
  folder: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<PackedService> {
  await writePack(folder, '1.0.0');
  const first = await startKeyedService(databaseUrl, { SERVICE_PACKS: folder });
  const transport = adminTransport(first.url);
  const { installation } = await createClient(PackService, transport).installPack({
    packName: PACK,
    policyName: 'guarded',
  });
  const ids = new Map(installation?.controls.map(({ key, controlId = 0 }) => [key, controlId]));
  const [cardsId = 0, wordsId = 0] = [ids.get('cards'), ids.get('words')];
  const controls = createClient(ControlService, transport);
  const change = async (controlId: number, pattern: string | null): Promise<void> => {
    const { data } = await controls.getControl({ controlId });
    if (data?.condition?.evaluator === undefined) throw new Error('the pack has no such control');
    if (pattern === null) data.action = { ...data.action, decision: Decision.DENY } as typeof data.action;
    else data.condition.evaluator.config = { pattern };
    await controls.setControlData({ controlId, ...(data === undefined ? {} : { data }) });
  };
  await change(cardsId, null);
  await change(wordsId, 'hush');
  await first.stop();
  await writePack(folder, '1.1.0');
  const service = await startDashboardService(databaseUrl, { ...environment, SERVICE_PACKS: folder });
  return { ...service, cardsId, wordsId };
}
