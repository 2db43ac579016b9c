import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { AuditActorSchema, AuditEntrySchema } from '@gen/enforcement/v1/audit_service_pb.js';
import { describe, expect, it } from 'vitest';
import { entrySentence, sentenceText } from '../src/audit/entry-sentence.js';

interface States {
  readonly before?: object;
  readonly after?: object;
}

function sentence(
  action: string,
  { before, after }: States = {},
  more: MessageInitShape<typeof AuditEntrySchema> = {},
): string {
  const [resource = ''] = action.split('.');
  const entry = create(AuditEntrySchema, {
    actor: create(AuditActorSchema, { kind: 'user', name: 'alice (platform)' }),
    action,
    resource,
    resourceId: '7',
    resourceName: 'payments',
    ...(before === undefined ? {} : { before: JSON.stringify(before) }),
    ...(after === undefined ? {} : { after: JSON.stringify(after) }),
    ...more,
  });
  return sentenceText(entrySentence(entry));
}

describe('the sentence of an entry of the audit log', () => {
  it('says who did what to what', () => {
    const agents = { agents: ['bot-number-one', 'bot-number-two', 'bot-number-three'], agent_count: 3 };
    expect(sentence('policy.add_agents', { after: agents })).toBe(
      'alice (platform) added the agents “bot-number-one”, “bot-number-two” and “bot-number-three” to the policy “payments”',
    );
    expect(sentence('policy.add_agents', { after: { agents: ['bot-number-one'], agent_count: 60 } })).toBe(
      'alice (platform) added 60 agents to the policy “payments”',
    );
    expect(sentence('policy.remove_agents', { before: { agents: ['bot-number-one'], agent_count: 1 } })).toBe(
      'alice (platform) removed the agent “bot-number-one” from the policy “payments”',
    );
    expect(sentence('agent.add_control', { after: { control_id: 3, control_name: 'no-cards' } })).toBe(
      'alice (platform) linked the control “no-cards” to the agent “payments”',
    );
    expect(sentence('control.create')).toBe('alice (platform) created the control “payments”');
    expect(
      sentence(
        'control.delete',
        {},
        { actor: create(AuditActorSchema, { kind: 'key', keyFingerprint: '9e72' }) },
      ),
    ).toBe('key 9e72 deleted the control “payments”');
  });

  it('says where a pack was installed, updated and uninstalled', () => {
    const state = { pack: 'payments', version: '1.1.0', policy_id: 3, policy_name: 'guarded' };
    expect(sentence('pack.install', { after: state })).toBe(
      'alice (platform) installed the pack “payments” in the policy “guarded”',
    );
    expect(sentence('pack.update', { before: { ...state, version: '1.0.0' }, after: state })).toBe(
      'alice (platform) updated the pack “payments” in the policy “guarded” to version “1.1.0”',
    );
    expect(sentence('pack.uninstall', { before: state })).toBe(
      'alice (platform) uninstalled the pack “payments” from the policy “guarded”',
    );
  });

  it('says what a change of a control or policy did', () => {
    const state = (data: object, name = 'payments') => ({ version: 1, name, data });
    expect(
      sentence('control.update', { before: state({ enabled: true }), after: state({ enabled: false }) }),
    ).toBe('alice (platform) switched the control “payments” off');
    expect(sentence('control.update', { before: state({}, 'old'), after: state({}, 'payments') })).toBe(
      'alice (platform) renamed the control “old” to “payments”',
    );
    const changed = state({ a: 1, b: 2, c: 3, d: 4 });
    expect(sentence('control.set_data', { before: state({}), after: changed })).toBe(
      'alice (platform) changed a, b, c and 1 other member of the control “payments”',
    );
    expect(sentence('policy.update', { before: { every_agent: false }, after: { every_agent: true } })).toBe(
      'alice (platform) gave the policy “payments” to every agent',
    );
  });

  it('says the action if it knows no words for it, and survives any state', () => {
    expect(sentence('control.sealed')).toBe('alice (platform) control.sealed: the control “payments”');
    const tooLarge = { too_large: { sha256: '00', bytes: 300_000 } };
    expect(sentence('control.set_data', { before: tooLarge, after: tooLarge })).toBe(
      'alice (platform) changed the definition of the control “payments”',
    );
    expect(sentence('policy.add_agents', { after: [] })).toBe(
      'alice (platform) added 0 agents to the policy “payments”',
    );
  });
});
