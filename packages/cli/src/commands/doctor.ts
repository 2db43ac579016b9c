import { connect as connectTls } from 'node:tls';
import {
  ControlsSource,
  type GetServerInfoResponse,
  StorageState,
} from '../../../../gen/proto/enforcement/v1/server_service_pb.js';
import { type Clients, serverInfo } from '../clients.js';
import { clockProblem } from '../clock.js';
import { defineCommand } from '../command.js';
import { CliError, messageOf } from '../errors.js';
import { cellOf, objects } from '../listing.js';
import { VERSION } from '../version.js';

/** What was looked at: fine, worth knowing, or wrong, with what to do. */
interface Finding {
  readonly check: string;
  readonly state: 'ok' | 'note' | 'wrong';
  readonly finding: string;
  readonly advice: string;
}

const CERTIFICATE_NOTICE_DAYS = 21;
const TLS_TIMEOUT_MS = 10_000;

export const command = defineCommand({
  examples: [{ line: 'control-enforcement doctor', does: 'Check the connection, the service and the key' }],
  async run(context) {
    const findings: Finding[] = [];
    const add = (check: string, isFine: boolean, finding: string, advice = ''): void =>
      void findings.push({ check, state: isFine ? 'ok' : 'wrong', finding, advice: isFine ? '' : advice });
    const clients = await context.connect();
    try {
      await checkConnection(clients, add);
      const info = await serverInfo(clients);
      add('protocol', true, 'REST and gRPC answer');
      checkServer(info, add, findings);
      await checkProblems(clients, findings);
    } catch (error) {
      const advice = error instanceof CliError ? (error.hint ?? '') : '';
      add('connection', false, messageOf(error), advice);
    }
    if (clients.connection.server.startsWith('https:'))
      await checkCertificate(clients.connection.server, add);
    const paint = { ok: 'green', note: 'yellow', wrong: 'red' } as const;
    await context.output(
      findings.map((finding) => ({ ...finding })),
      findings
        .map(({ check, state, finding, advice }) => {
          const todo = advice === '' ? '' : `\n        ${advice}`;
          return `${context.paint(paint[state], state.padEnd(6))}  ${check}: ${cellOf(finding)}${todo}\n`;
        })
        .join(''),
    );
    return findings.some(({ state }) => state === 'wrong') ? 1 : 0;
  },
});

type Add = (check: string, isFine: boolean, finding: string, advice?: string) => void;

/** One reply over HTTP: whether there is a service, and its clock, which `date` tells in whole seconds. */
async function checkConnection({ connection: { server, headers }, rest }: Clients, add: Add): Promise<void> {
  const reply = await rest.timed('/api/v1/server-info');
  add('connection', true, `${server} answers in ${reply.receivedMs - reply.sentMs} ms`);
  const problem = Number.isNaN(reply.dateMs) ? undefined : clockProblem(reply);
  add(
    'clock',
    problem === undefined,
    problem ?? (Number.isNaN(reply.dateMs) ? 'the server does not tell its time' : 'the clocks agree'),
    'Set the clock of this machine, or of the server, with NTP: logins, expiry times and retention go by it.',
  );
  const sent =
    headers['x-api-key'] !== undefined
      ? 'an API key'
      : headers.authorization !== undefined
        ? 'a token'
        : 'no key';
  add('key', true, `${sent} is sent, and accepted`);
}

function checkServer(info: GetServerInfoResponse, add: Add, findings: Finding[]): void {
  const { version, state } = info;
  const [own, theirs] = [VERSION, version].map((text) => Number(text.split('.')[0]));
  add(
    'versions',
    own === theirs,
    `the command is ${VERSION}, the service ${version}`,
    'Use the command of the same major version as the service.',
  );
  add(
    'rights',
    info.scopes.length > 0,
    `namespace ${info.namespace}, ${info.role ?? 'no role'}, ${info.scopes.length} scopes`,
    'The key may do nothing: use another one.',
  );
  if (!info.isAdmin)
    findings.push({
      check: 'rights',
      state: 'note',
      finding: 'the key cannot change controls',
      advice: 'apply needs a key that may write controls and policies.',
    });
  if (state === undefined) return;
  add(
    'evaluation',
    state.cannotEvaluateBecause === undefined,
    state.cannotEvaluateBecause ?? 'steps are evaluated',
    'See docs/runbook.md.',
  );
  add(
    'database',
    state.databaseUp,
    state.databaseUp ? 'the database answers' : 'the database does not answer',
    'Check the database of the service and SERVICE_DATABASE_URL.',
  );
  const isKept = state.storageState === StorageState.OK || state.storageState === StorageState.UNSPECIFIED;
  add(
    'storage',
    isKept,
    isKept ? 'what is stored is kept' : (state.storageProblem ?? StorageState[state.storageState]),
    state.storageProblem ?? 'See docs/runbook.md.',
  );
  add(
    'controls',
    state.controlsFrom === ControlsSource.DATABASE,
    `controls are from ${ControlsSource[state.controlsFrom].toLowerCase().replaceAll('_', ' ')}`,
    'The service has not read its database since it started.',
  );
  add(
    'events',
    state.lostEvents === 0n,
    `${state.waitingEvents} events wait, ${state.lostEvents} were lost`,
    'See the logs of the service for why events could not be stored.',
  );
}

async function checkProblems({ rest }: Clients, findings: Finding[]): Promise<void> {
  const { problems = null } = await rest.get('/api/v1/problems');
  for (const problem of objects(problems)) {
    const { kind, severity, title, detail } = problem;
    findings.push({
      check: cellOf(kind),
      state: severity === 'notice' ? 'note' : 'wrong',
      finding: cellOf(title),
      advice: cellOf(detail),
    });
  }
}

/** When the certificate ends, of which the authority was checked by the connection. */
async function checkCertificate(server: string, add: Add): Promise<void> {
  const { hostname, port } = new URL(server);
  try {
    const ends = await new Promise<number>((resolve, reject) => {
      const socket = connectTls(
        { host: hostname, port: Number(port || 443), servername: hostname, timeout: TLS_TIMEOUT_MS },
        () => {
          resolve(Date.parse(socket.getPeerCertificate().valid_to));
          socket.destroy();
        },
      );
      socket.once('error', reject).once('timeout', () => socket.destroy(new Error('no answer within 10 s')));
    });
    const days = Math.floor((ends - Date.now()) / 86_400_000);
    add(
      'certificate',
      days >= CERTIFICATE_NOTICE_DAYS,
      `the certificate ends in ${days} days`,
      'Renew it before it ends.',
    );
  } catch (error) {
    add(
      'certificate',
      false,
      messageOf(error),
      'Name the file of the authority as NODE_EXTRA_CA_CERTS, or renew the certificate.',
    );
  }
}
