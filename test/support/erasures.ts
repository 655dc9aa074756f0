import { SYSTEM } from '../../src/access/principal';
import { ContactErasureSummary } from '../../src/privacy/contact-erasure.dto';
import { ContactErasuresService } from '../../src/privacy/contact-erasures.service';
import { waitFor } from './wait';
import { WebhookHost } from './webhook-workspace';

/** Time for an erasure of many steps, which takes long on a busy machine. */
const SLOW_MS = 60_000;

export const erasuresOf = (host: WebhookHost) => host.app.get(ContactErasuresService, { strict: false });

/** Waits until an erasure has this status. */
export function waitForErasure(
  host: WebhookHost,
  tenantId: string,
  { id }: { id: string },
  status: ContactErasureSummary['status'],
): Promise<ContactErasureSummary> {
  return waitFor(
    `an erasure to be ${status}`,
    async () => {
      const now = await erasuresOf(host).get(tenantId, id, SYSTEM);
      return now.status === status && now;
    },
    SLOW_MS,
  );
}

/** Completes an erasure without the wait before its second look. */
export async function completeErasure(
  host: WebhookHost,
  tenantId: string,
  erasure: { id: string },
): Promise<ContactErasureSummary> {
  await waitForErasure(host, tenantId, erasure, 'settling');
  await host.query('UPDATE contact_erasures SET due_at = now() WHERE tenant_id = $1 AND id = $2', [
    tenantId,
    erasure.id,
  ]);
  return waitForErasure(host, tenantId, erasure, 'completed');
}
