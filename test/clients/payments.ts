import type { RestClient } from '../support/http.js';

/** Approves payments of even amounts and denies the others, as they are asked for, until the returned function is called. */
export function approvePayments(approver: RestClient, agents: readonly string[]): () => void {
  let isOver = false;
  async function decideAll(): Promise<void> {
    while (!isOver) {
      for (const agent of agents) {
        const { body } = await approver('GET', `/api/v1/approvals?state=pending&agent_name=${agent}`);
        for (const { id } of (body.approvals ?? []) as { id: number }[]) {
          const shown = await approver('GET', `/api/v1/approvals/${id}`);
          const isEven = Number(/amount\W+(\d+)/.exec(JSON.stringify(shown.body))?.[1]) % 2 === 0;
          const decision = isEven ? { decision: 'approve' } : { decision: 'deny', comment: 'odd' };
          await approver('POST', `/api/v1/approvals/${id}/decide`, decision);
        }
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
  // The service may stop before the last question.
  decideAll().catch(() => {});
  return () => {
    isOver = true;
  };
}
