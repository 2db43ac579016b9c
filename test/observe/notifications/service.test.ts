import { createServer, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAddressPolicy } from '../../../src/observe/notifications/address-policy.js';
import { createMailer } from '../../../src/observe/notifications/mailer.js';
import { denyWord, evaluate } from '../../support/seed.js';
import { describeService } from '../../support/service-suite.js';
import { until } from '../../support/until.js';
import { openReceiver, type Receiver, verified } from './support.js';

const KINDS = ['control.changed', 'control.first_deny', 'halt.set', 'approval.asked', 'approval.decided'];
const SETTINGS = { SERVICE_NOTIFICATIONS_ALLOW: 'loopback', SERVICE_NOTIFICATIONS_HTTP: 'true' };

describeService(
  'a service with a destination',
  ({ call, seed }) => {
    let receiver: Receiver;
    let secret: string;
    beforeAll(async () => {
      receiver = await openReceiver();
      const made = await call('POST', '/api/v1/notification-destinations', {
        name: 'all',
        type: 'webhook',
        url: receiver.url,
        kinds: KINDS,
      });
      expect(made.status).toBe(200);
      secret = made.body.secret;
    });
    afterAll(() => receiver.close());

    const told = (kind: string) =>
      receiver.received.map(({ body }) => JSON.parse(body)).filter(({ type }) => type === kind);
    const untilTold = (kind: string, count = 1) =>
      until(
        () => told(kind),
        (found) => found.length >= count,
      );

    it('tells of changed controls and halts, signed', async () => {
      const id = await seed.control('told', denyWord('bad'));
      await call('PATCH', `/api/v1/controls/${id}`, { enabled: false });
      const [created, updated] = await untilTold('control.changed', 2);
      expect(created.data).toMatchObject({ action: 'control.create', control: { id, name: 'told' } });
      expect(updated.data).toMatchObject({ action: 'control.update', control: { id, name: 'told' } });
      const halt = { scope: 'agent', agent_name: 'halted-agent-01', reason: 'of no concern' };
      await call('POST', '/api/v1/halts', halt);
      const [set] = await untilTold('halt.set');
      expect(set.data).toMatchObject({ halt: { scope: 'agent' } });
      for (const one of receiver.received) expect(verified(one, secret)).toHaveLength(1);
    });

    it('tells of a first deny once, and of nothing that the step had', async () => {
      const id = await seed.linked('denied-agent-01', 'denies', denyWord('secret-word'));
      // The process knows its destinations: it has sent to them.
      for (let at = 0; at < 5; at += 1) await evaluate(call, 'denied-agent-01', 'the secret-word');
      const [first] = await untilTold('control.first_deny');
      expect(first.data).toMatchObject({ control: { id, name: 'denies' }, agent_name: 'denied-agent-01' });
      await evaluate(call, 'denied-agent-01', 'the secret-word again');
      await call('POST', '/api/v1/halts', { scope: 'step_name', step_name: 'after', reason: 'x' });
      await untilTold('halt.set', 2);
      expect(told('control.first_deny')).toHaveLength(1);
      const sent = told('control.first_deny').map((one) => JSON.stringify(one));
      expect(sent.filter((body) => body.includes('secret-word'))).toEqual([]);
    });

    it('tells of approvals', async () => {
      const asking = { ...denyWord('pay'), scope: { stages: ['pre'] } };
      await seed.linked('asking-agent-01', 'asks', {
        ...asking,
        action: { decision: 'deny', approval: { approvers: ['role:admin'], question: 'May it?' } },
      });
      const step = { type: 'llm', name: 'answer', input: 'pay 7' };
      const request = { agent_name: 'asking-agent-01', stage: 'pre', step, accepts: ['ask'] };
      const { body } = await call('POST', '/api/v1/evaluation', request);
      expect(body).toMatchObject({ outcome: 'ask' });
      const { id } = body.approval;
      const [asked] = await untilTold('approval.asked');
      expect(asked.data).toMatchObject({ approval: { id, state: 'pending' }, agent_name: 'asking-agent-01' });
      await call('POST', `/api/v1/approvals/${id}/cancel`, { agent_name: 'asking-agent-01' });
      const [decided] = await untilTold('approval.decided');
      expect(decided.data).toMatchObject({ approval: { id, state: 'cancelled' } });
    });

    it('tests a destination at once', async () => {
      const { body } = await call('POST', '/api/v1/notification-destinations/1/test', {});
      expect(body).toMatchObject({ delivered: true, status: 204 });
      expect(told('test')).toHaveLength(1);
    });
  },
  SETTINGS,
);

describe('the policy of addresses', () => {
  const policy = createAddressPolicy([]);
  it.each([
    '127.0.0.1',
    '10.1.2.3',
    '172.31.0.1',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '0.0.0.0',
    '224.0.0.1',
    '[::1]',
    '[::]',
    '[::ffff:7f00:1]',
    '[::ffff:a9fe:a9fe]',
    '[64:ff9b::a00:1]',
    '[2002:7f00:1::]',
    '[fe80::1]',
    '[fc00::1]',
    '[fd12::1]',
    '[ff02::1]',
    '192.0.2.1',
    '198.51.100.7',
    '203.0.113.255',
    '192.88.99.1',
    '[2001:db8::1]',
    '[3fff::1]',
    '[2001:2::1]',
    '[2001:20::1]',
    '[::ffff:c000:201]',
    '[2002:cb00:7101::]',
  ])('refuses %s', (host) => {
    expect(policy.allows(host)).toBe(false);
  });
  it.each(['93.184.216.34', '[2606:4700::1111]', '[::ffff:5db8:d822]', 'hooks.example'])(
    'allows %s',
    (host) => {
      expect(policy.allows(host)).toBe(true);
    },
  );
  it('allows what the setting names, in every form', () => {
    const excepted = createAddressPolicy(['10.0.0.0/8']);
    expect(['10.1.2.3', '[::ffff:a01:203]', '192.168.1.1'].map(excepted.allows)).toEqual([true, true, false]);
  });
  it('looks at the addresses that a name has when it is connected to', async () => {
    const answers = [
      { address: '10.0.0.1', family: 4 },
      { address: '93.184.216.34', family: 4 },
    ];
    const resolve = ((_name: string, _options: object, done: (e: null, found: object[]) => void) =>
      done(null, answers)) as never;
    const looked = (all: boolean) =>
      new Promise((done) =>
        createAddressPolicy([], resolve).lookup('x.example', { all }, (error, found) => done(error ?? found)),
      );
    expect(await looked(true)).toEqual([answers[1]]);
    expect(await looked(false)).toBe('93.184.216.34');
    answers.pop();
    const inner = await looked(true);
    expect(inner).toMatchObject({ code: 'FORBIDDEN_ADDRESS' });
    // A name that does not exist looks like one of the inner network.
    const missing = ((_name: string, _options: object, done: (e: Error, found: object[]) => void) =>
      done(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }), [])) as never;
    const none = await new Promise((done) =>
      createAddressPolicy([], missing).lookup('x.example', { all: true }, (error) => done(error)),
    );
    expect(none).toEqual(inner);
  });
});

/** An SMTP server that takes what it is sent; `refusal` is its answer to the recipient. */
async function smtpServer(refusal: string | null) {
  const lines: string[] = [];
  const server = createServer((socket: Socket) => {
    let isData = false;
    socket.on('error', () => {});
    socket.write('220 mail.test ESMTP\r\n');
    let rest = '';
    socket.on('data', (chunk) => {
      rest += chunk.toString();
      const complete = rest.split('\r\n');
      rest = complete.pop() ?? '';
      for (const line of complete) {
        lines.push(line);
        if (isData && line !== '.') continue;
        if (line === '.') isData = false;
        if (line === 'DATA') isData = true;
        const answer =
          /^RCPT/.test(line) && refusal !== null ? refusal : line === 'DATA' ? '354 go on' : '250 ok';
        socket.write(`${answer}\r\n`);
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  return { port, lines, close: () => new Promise((done) => server.close(done)) };
}

describe('e-mail', () => {
  const message = {
    messageId: 'msg_1',
    kind: 'halt.set',
    summary: 'Halt 1 of agent x',
    payload:
      '{"type":"halt.set","timestamp":"2026-12-01T00:00:00Z","data":{"url":"https://controls.example/ui/halts"}}',
  };
  const sent = async (refusal: string | null) => {
    const server = await smtpServer(refusal);
    const config = {
      host: '127.0.0.1',
      port: server.port,
      tls: 'none',
      login: null,
      from: 'a@b.example',
    } as const;
    const result = await createMailer(config, 300_000).send(
      ['c@d.example'],
      message,
      AbortSignal.timeout(300_000),
    );
    await server.close();
    return { result, lines: server.lines };
  };
  it('is sent with the id of the notification', async () => {
    const { result, lines } = await sent(null);
    expect(result).toEqual({ delivered: true, status: 250, error: null, retryAfterMs: null });
    expect(lines).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^MAIL FROM:<a@b\.example>/),
        expect.stringMatching(/^RCPT TO:<c@d\.example>/),
        'Message-ID: <msg_1@b.example>',
        'Subject: Halt 1 of agent x',
        'https://controls.example/ui/halts',
      ]),
    );
  });
  it('tells that the server did not take it', async () => {
    const { result } = await sent('550 no such user');
    expect(result).toMatchObject({ delivered: false, status: 550 });
  });
});
