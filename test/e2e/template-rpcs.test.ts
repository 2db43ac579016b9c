import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { type Client, Code, ConnectError, createClient } from '@connectrpc/connect';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  RenderTemplateRequestSchema,
  TemplateService,
} from '../../gen/proto/enforcement/v1/template_service_pb.js';
import { BadRequestSchema } from '../../gen/proto/google/rpc/error_details_pb.js';
import { RPC_PROTOCOLS, rpcTransport } from '../support/rpc-transports.js';
import { suiteService } from '../support/service-suite.js';

const service = suiteService();

describe.each(RPC_PROTOCOLS)('templates over %s', (protocol) => {
  let client: Client<typeof TemplateService>;
  beforeAll(() => {
    client = createClient(TemplateService, rpcTransport(protocol, service.url));
  });

  /** The status of a template that is refused. */
  async function refusal(template: object): Promise<{ status: ConnectError; violations: string[][] }> {
    const status = await client.renderTemplate({ template }).then(
      () => Promise.reject(new Error('the template was rendered')),
      (error: unknown) => ConnectError.from(error),
    );
    const [bad] = status.findDetails(BadRequestSchema);
    const violations = (bad?.fieldViolations ?? []).map(({ field, description }) => [field, description]);
    return { status, violations };
  }

  const value = (json: unknown): unknown => {
    if (typeof json === 'string') return { kind: { case: 'stringValue', value: json } };
    const fields = Object.entries(json as object).map(([key, one]) => [key, value(one)]);
    return { kind: { case: 'structValue', value: { fields: Object.fromEntries(fields) } } };
  };
  const text = { type: 'string', label: 'Who is to decide' };

  it('name the parameter, its label and the place in the definition', async () => {
    const decision = { ...text, default: value('warn') };
    const definitionTemplate = value({
      execution: 'server',
      condition: { selector: {}, evaluator: { name: 'regex', config: { pattern: 'x' } } },
      action: { decision: { $param: 'decision' } },
    });
    const { status, violations } = await refusal({ parameters: { decision }, definitionTemplate });
    expect(status.code).toBe(Code.InvalidArgument);
    expect(violations).toEqual([
      [
        'template_values.decision',
        expect.stringMatching(
          /\(parameter decision, labelled "Who is to decide", at action\.decision of the rendered definition\)$/,
        ),
      ],
    ]);
  });

  it('keep a status small enough for trailers, however long the labels are', async () => {
    const label = 'ä'.repeat(5_000);
    const parameters = Object.fromEntries(
      Array.from({ length: 100 }, (_, index) => [`p${index}${'x'.repeat(200)}`, { ...text, label }]),
    );
    const { status, violations } = await refusal({ parameters, definitionTemplate: value({}) });
    expect(status.code).toBe(Code.InvalidArgument);
    expect(violations.length).toBeGreaterThan(1);
    expect(Buffer.byteLength(violations.flat().join(''))).toBeLessThan(8_192);
  });
});

it('does not lose a parameter named __proto__ that a message brings', async () => {
  const parameters = { xxprotoxx: { type: 'string', label: 'P' } };
  const definitionTemplate = { kind: { case: 'structValue' as const, value: { fields: {} } } };
  const message = create(RenderTemplateRequestSchema, { template: { parameters, definitionTemplate } });
  // The library would lose the name in an object, but a client in another language need not.
  const body = Buffer.from(
    Buffer.from(toBinary(RenderTemplateRequestSchema, message))
      .toString('latin1')
      .replace('xxprotoxx', '__proto__'),
    'latin1',
  );
  const path = `${service.url}/${TemplateService.typeName}/RenderTemplate`;
  const headers = { 'content-type': 'application/proto', 'connect-protocol-version': '1' };
  const reply = await fetch(path, { method: 'POST', headers, body });
  const { details } = (await reply.json()) as { details: { type: string; value: string }[] };
  const bad = details.find(({ type }) => type === BadRequestSchema.typeName);
  const { fieldViolations } = fromBinary(BadRequestSchema, Buffer.from(bad?.value ?? '', 'base64'));
  expect(fieldViolations).toMatchObject([
    { reason: 'UNUSED_TEMPLATE_PARAMETER', description: expect.stringContaining('parameter __proto__') },
  ]);
});
