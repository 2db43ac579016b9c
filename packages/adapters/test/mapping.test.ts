import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  DEFAULT_MAPPING,
  MAPPED,
  type Mapped,
  type MappedRequest,
  mapped,
  memberAt,
  readSource,
  type Source,
  sourceText,
} from '../src/steps/mapping.js';
import { readMappingFile, readMappings } from '../src/steps/mapping-file.js';

const request = (more: Partial<MappedRequest> = {}): MappedRequest => ({
  header: () => undefined,
  query: {},
  message: {},
  protocol: {},
  agentOfKey: undefined,
  ...more,
});
const source = (written: string): Source => {
  const read = readSource(written);
  if (typeof read === 'string') throw new Error(read);
  return read;
};

describe('a source', () => {
  const full = request({
    header: (name) => (name === 'x-agent-name' ? 'by-header' : undefined),
    query: { agent: 'by-query' },
    message: { context: { agent: 'by-member', depth: 7, none: null } },
    protocol: { agent: 'by-protocol' },
    agentOfKey: 'by-key',
  });
  it.each([
    ['header X-Agent-Name', 'by-header', 'the header x-agent-name'],
    ['query agent', 'by-query', 'the query parameter agent'],
    ['member context.agent', 'by-member', 'the member context.agent'],
    ['text a bot', 'a bot', 'the text a bot'],
    [' protocol ', 'by-protocol', 'what the protocol has for it'],
    ['key', 'by-key', 'a key that is limited to one agent'],
    ['header x-other', undefined, 'the header x-other'],
    ['member context.depth', undefined, 'the member context.depth'],
    ['member context.none', undefined, 'the member context.none'],
    ['member context.agent.name', undefined, 'the member context.agent.name'],
    ['member constructor.name', undefined, 'the member constructor.name'],
  ])('%s', (written, value, text) => {
    expect(mapped([source(written)], full, 'agent')).toBe(value);
    expect(sourceText(source(written))).toBe(text);
  });

  it('is tried after those without a value, and an empty text is none', () => {
    const sources = ['header x-none', 'member empty', 'text first', 'text second'].map(source);
    expect(mapped(sources, request({ message: { empty: '' } }), 'session')).toBe('first');
    expect(mapped([], full, 'agent')).toBeUndefined();
  });

  it('of a key names agents only', () => {
    expect(mapped([{ kind: 'key' }], full, 'session')).toBeUndefined();
  });

  it.each([
    ['', 'must be "header NAME", "query agent"'],
    ['header', 'must be "header NAME"'],
    ['cookie session', 'must be "header NAME"'],
    ['header Authorization', 'has credentials'],
    ['header proxy-authorization', 'has credentials'],
    ['header cookie', 'has credentials'],
    ['header x-api-key', 'has credentials'],
    ['header a b', 'stands the name of a header'],
    [`header ${'a'.repeat(101)}`, 'stands the name of a header'],
    ['query session', 'the only query parameter of adapters is "agent"'],
    ['member a..b', 'stand names, separated by points'],
    [`member ${Array(17).fill('a').join('.')}`, 'stand names, separated by points'],
    ['protocol agent', '"protocol" stands alone'],
    ['key agent', '"key" stands alone'],
  ])('cannot be "%s"', (written, problem) => {
    expect(readSource(written)).toContain(problem);
  });

  it('reads members of objects only', () => {
    expect(memberAt({ a: [1] }, ['a', '0'])).toBeUndefined();
    expect(memberAt({ a: { b: null } }, ['a', 'b'])).toBeNull();
    expect(memberAt(undefined, ['a'])).toBeUndefined();
    expect(memberAt('text', [])).toBe('text');
  });
});

describe('without a file', () => {
  const value = (name: Mapped, more: Partial<MappedRequest>) =>
    mapped(DEFAULT_MAPPING[name], request(more), name);
  const headers = (values: Record<string, string>) => ({ header: (name: string) => values[name] });

  it('an agent is that of the header, the query, the protocol and the key, in this order', () => {
    const all = {
      ...headers({ 'x-agent-name': 'by-header' }),
      query: { agent: 'by-query' },
      protocol: { agent: 'by-protocol' },
      agentOfKey: 'by-key',
    };
    expect(value('agent', all)).toBe('by-header');
    expect(value('agent', { ...all, header: () => undefined })).toBe('by-query');
    expect(value('agent', { protocol: all.protocol, agentOfKey: 'by-key' })).toBe('by-protocol');
    expect(value('agent', { agentOfKey: 'by-key' })).toBe('by-key');
  });

  it.each([
    ['session', 'x-session-id'],
    ['step_id', 'x-step-id'],
    ['traceparent', 'traceparent'],
    ['target_type', 'x-target-type'],
    ['target_id', 'x-target-id'],
  ] as const)('%s is that of the header %s first', (name, header) => {
    expect(value(name, { ...headers({ [header]: 'by-header' }), protocol: { [name]: 'by-protocol' } })).toBe(
      'by-header',
    );
  });

  it('the name of a step is that of the protocol', () => {
    expect(value('step', { protocol: { step: 'send_email' } })).toBe('send_email');
  });
});

describe('a file of mappings', () => {
  it('changes what it names, and leaves the rest', () => {
    const mappings = readMappings(
      'litellm:\n  agent: [header x-agent-name, member request_data.team]\n  session: text one\nauthzen: {}\n',
      'adapters.yaml',
    );
    expect([...mappings.keys()]).toEqual(['litellm', 'authzen']);
    expect(mappings.get('litellm')).toEqual({
      ...DEFAULT_MAPPING,
      agent: [
        { kind: 'header', name: 'x-agent-name' },
        { kind: 'member', path: ['request_data', 'team'] },
      ],
      session: [{ kind: 'text', text: 'one' }],
    });
    expect(mappings.get('authzen')).toEqual(DEFAULT_MAPPING);
  });

  it('can be JSON, or have nothing, and can name every value', () => {
    const every = Object.fromEntries(MAPPED.map((name) => [name, 'protocol']));
    const json = readMappings(JSON.stringify({ 'ext-mcp': every }), 'adapters.json');
    expect(json.get('ext-mcp')).toEqual(
      Object.fromEntries(MAPPED.map((name) => [name, [{ kind: 'protocol' }]])),
    );
    expect(readMappings('', 'adapters.yaml').size).toBe(0);
  });

  it.each([
    ['- authzen\n', 1, 'must be an object with a member for each adapter'],
    ['authzen: {}\nlitelm: {}\n', 2, 'litelm: is no adapter; authzen, ', 'are; did you mean litellm?'],
    ['authzen: header x-agent-name\n', 1, 'authzen: must be an object, such as agent: [header x-agent-name]'],
    ['authzen:\n  agnet: key\n', 2, 'authzen.agnet: is not known; agent, ', 'are; did you mean agent?'],
    ['authzen:\n  agent:\n    - key\n    - 7\n', 2, 'authzen.agent: must be texts'],
    ['authzen:\n  agent: header cookie\n', 2, 'authzen.agent: the header cookie has credentials'],
    [
      `authzen:\n  agent: [${Array(17).fill('key').join(', ')}]\n`,
      2,
      'authzen.agent: must have at most 16 sources',
    ],
    ['authzen: {}\n---\nlitellm: {}\n', 3, 'the file must have one document'],
    ['authzen: {\n', 2, ''],
  ])('is refused: %j', (text, line, problem, advice = '') => {
    let message = '';
    try {
      readMappings(text, 'adapters.yaml');
    } catch (error) {
      message = (error as Error).message;
    }
    expect(message).toContain(`SERVICE_ADAPTERS_FILE: adapters.yaml, line ${line}: ${problem}`);
    expect(message).toContain(advice);
  });

  it('is read from its path, and named if it cannot be read', () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'mappings-'));
    const file = path.join(folder, 'adapters.yaml');
    expect(() => readMappingFile(file)).toThrow(`SERVICE_ADAPTERS_FILE: ${file} cannot be read: `);
    writeFileSync(file, 'agent-hooks:\n  agent: key\n');
    expect(readMappingFile(file).get('agent-hooks')?.agent).toEqual([{ kind: 'key' }]);
    rmSync(folder, { recursive: true });
  });
});
