import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  curlText,
  type EvaluationCall,
  grpcurlText,
  typeScriptText,
} from '../../../packages/dashboard/src/playground/call-texts.js';
import { stepFragment, stepOfFragment } from '../../../packages/dashboard/src/references/step-link.js';

const STEP = {
  type: 'tool',
  name: `it's "$HOME" \`id\` \\n`,
  input: { text: "'; rm -rf / #\n\u2028", list: ['!', '$(id)'] },
};
const CALL: EvaluationCall = {
  origin: 'http://127.0.0.1:8000',
  apiBase: '/api/v1',
  keysRequired: true,
  agentName: 'agent-number-1',
  stage: 'post',
  step: JSON.stringify(STEP, null, 2),
};

/** The arguments that a shell gives to a command of a text. */
async function argumentsOf(command: string, text: string): Promise<string[]> {
  const script = `${command}() { printf '%s\\0' "$@"; }\n${text}`;
  const { stdout } = await promisify(execFile)('sh', ['-c', script], {
    env: { SERVICE_API_KEY: 'a key', HOME: '/home' },
  });
  return stdout.split('\0').slice(0, -1);
}

describe('an evaluation as a command', () => {
  it('of curl has the step as it is', async () => {
    const [, url, , type, , key, , body] = await argumentsOf('curl', curlText(CALL));
    expect(url).toBe('http://127.0.0.1:8000/api/v1/evaluation');
    expect([type, key]).toEqual(['content-type: application/json', 'x-api-key: a key']);
    expect(JSON.parse(body ?? '')).toEqual({ agent_name: 'agent-number-1', stage: 'post', step: STEP });
  });

  it('of curl needs no key if the service needs none', async () => {
    const given = await argumentsOf('curl', curlText({ ...CALL, keysRequired: false }));
    expect(given.join()).not.toContain('x-api-key');
  });

  it('of grpcurl has the words of the proto', async () => {
    const given = await argumentsOf('grpcurl', grpcurlText(CALL));
    expect(given).toEqual([
      '-plaintext',
      '-H',
      'x-api-key: a key',
      '-d',
      expect.stringContaining('"stage": "STAGE_POST"'),
      '127.0.0.1:8000',
      'enforcement.v1.EvaluationService/Evaluate',
    ]);
    expect(JSON.parse(given[4] ?? '').step).toEqual(STEP);
    const encrypted = await argumentsOf(
      'grpcurl',
      grpcurlText({ ...CALL, origin: 'https://controls.example' }),
    );
    expect(encrypted).not.toContain('-plaintext');
    expect(encrypted).toContain('controls.example:443');
  });
});

describe('an evaluation as a program', () => {
  it('has the step as it is, whatever its names are', () => {
    const steps = [CALL.step, '{"__proto__": {"a": 1}}', '{"\\u005f_proto__": 1}', 'null'];
    for (const step of steps) {
      const [, literal = ''] =
        /\nconst step = ([\s\S]*?);\nconst evaluation/.exec(typeScriptText({ ...CALL, step })) ?? [];
      const value = new Function(`return ${literal}`)() as unknown;
      expect(JSON.stringify(value)).toBe(JSON.stringify(JSON.parse(step)));
    }
  });
});

describe('a step in an address', () => {
  it('can be read back', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 500 }), (step) => {
        const fragment = stepFragment(step);
        expect(fragment).toMatch(/^#step=[\w-]*$/);
        expect(stepOfFragment(fragment ?? '')).toBe(step);
      }),
    );
  });

  it('is left out if it is too long, and ignored if it cannot be read', () => {
    expect(stepFragment('x'.repeat(10_000))).toBeNull();
    expect(stepOfFragment('#step=%%%')).toBeUndefined();
    expect(stepOfFragment('#step=_w')).toBeUndefined();
    expect(stepOfFragment('#content')).toBeUndefined();
  });
});
