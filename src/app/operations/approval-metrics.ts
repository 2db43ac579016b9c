import { Counter, Gauge, type Registry } from 'prom-client';
import type { ApprovalMeter } from '../../decide/approvals/approval-meter.js';

/** Metrics of approvals. Returns their meter. */
export function createApprovalMetrics(prefix: string, registers: Registry[]): ApprovalMeter {
  let open: number | null = null;
  const events = new Counter({
    name: `${prefix}_approvals_total`,
    help: 'What happened with approvals in this process: asked, refused (to ask), approved, denied, cancelled, expired, used.',
    labelNames: ['event'],
    registers,
  });
  new Gauge({
    name: `${prefix}_approvals_open`,
    help: 'Approvals that are pending or approved; counted every 15 seconds by one process of each replica.',
    aggregator: 'max',
    registers,
    collect() {
      this.reset();
      if (open === null) this.remove();
      else this.set(open);
    },
  });
  return {
    asked(result) {
      if (result === 'waits') events.inc({ event: 'asked' });
      if (result === 'refused') events.inc({ event: 'refused' });
    },
    ended: (state, count) => events.inc({ event: state }, count),
    used: () => events.inc({ event: 'used' }),
    counted(count) {
      open = count;
    },
  };
}
