import { setTimeout as sleep } from 'node:timers/promises';
import { answering, Behaviour, connectingSlowly, hanging, slow } from './behaviours';
import { ChaosCluster } from './cluster';
import { Neighbour } from './neighbours';
import { Random } from './random';
import { consumersOfParked, storePoisonedEvent } from './tables';

/** Rate limit of an endpoint at which a backlog builds up, in deliveries a second. */
const FEW_A_SECOND = 10;
const TARPIT_WORKSPACES = 2;

/** Sends many messages of one workspace to many endpoints, which all answer. */
export async function flood({ neighbours, sizes, notes }: ChaosCluster): Promise<void> {
  const { messages, endpoints } = sizes.flood;
  const neighbour = await neighbours.make(answering, endpointsOf(endpoints));
  const startedAt = Date.now();
  await neighbour.send(messages);
  await neighbour.settle(sizes.patienceMs);
  const seconds = (Date.now() - startedAt) / 1000;
  const rate = Math.round(neighbour.ledger.accepted.length / seconds);
  notes.push(`flood: ${neighbour.ledger.accepted.length} deliveries in ${seconds.toFixed(1)} s, ${rate}/s`);
}

/**
 * Sends a flood while a snapshot is held open, which keeps every row that dies. The worker that starts in the
 * middle of it has the floors of the others alone.
 */
export async function floodBesideSnapshot(cluster: ChaosCluster, random: Random): Promise<void> {
  const release = await cluster.stores.holdSnapshot();
  try {
    await flood(cluster);
    const worker = random.pick(cluster.workers);
    await worker.ready();
    worker.kill();
    await flood(cluster);
  } finally {
    await release();
  }
}

/** Lets all endpoints of some workspaces hang, and answer again later. */
export async function tarpits({ neighbours, sizes }: ChaosCluster, random: Random): Promise<void> {
  const { messages, endpoints, least, most } = sizes.tarpits;
  const tarpits: Neighbour[] = [];
  while (tarpits.length < TARPIT_WORKSPACES)
    tarpits.push(await neighbours.make(answering, endpointsOf(endpoints)));
  for (const { receiver } of tarpits) receiver.behave(hanging);
  await Promise.all(tarpits.map((tarpit) => tarpit.send(messages)));
  await sleep(random.between(least, most));
  for (const { receiver } of tarpits) receiver.heal();
}

/** Deletes one endpoint and deactivates another while deliveries to them wait. */
export function deletion(cluster: ChaosCluster, random: Random): Promise<void> {
  return closeEndpoints(cluster, random, slow);
}

/** Deletes one endpoint and deactivates another while connections to them are being made. */
export function slowDeletion(cluster: ChaosCluster, random: Random): Promise<void> {
  return closeEndpoints(cluster, random, connectingSlowly);
}

async function closeEndpoints(
  { neighbours, sizes, notes }: ChaosCluster,
  random: Random,
  usual: Behaviour,
): Promise<void> {
  const neighbour = await neighbours.make(usual, [
    { rateLimit: FEW_A_SECOND },
    { rateLimit: FEW_A_SECOND },
    {},
  ]);
  const [first, second] = neighbour.endpoints;
  await neighbour.send(sizes.backlog);
  await sleep(random.between(0, 2_000));
  const deleteMs = await neighbour.delete(first!);
  const deactivateMs = await neighbour.deactivate(second!);
  notes.push(
    `${sizes.backlog} messages owed: deletion answered in ${deleteMs} ms, deactivation in ${deactivateMs} ms`,
  );
}

/** Deactivates and reactivates an endpoint while deliveries to it wait, once or several times. */
export async function reactivation({ neighbours, sizes }: ChaosCluster, random: Random): Promise<void> {
  const neighbour = await neighbours.make(answering, [{ rateLimit: FEW_A_SECOND }, {}]);
  const [endpoint] = neighbour.endpoints;
  await neighbour.send(sizes.backlog);
  for (let left = random.between(1, 3); left > 0; left -= 1) {
    await neighbour.deactivate(endpoint!);
    if (random.chance(0.5)) await neighbour.send(FEW_A_SECOND);
    await neighbour.activate(endpoint!);
    await neighbour.send(FEW_A_SECOND);
  }
}

/** Kills workers while they recover what an endpoint missed. */
export async function recovery({ neighbours, sizes, workers }: ChaosCluster, random: Random): Promise<void> {
  const { messages, perSecond, kills } = sizes.recovery;
  const neighbour = await neighbours.make(answering, [{ rateLimit: perSecond }]);
  const [endpoint] = neighbour.endpoints;
  await neighbour.deactivate(endpoint!);
  await neighbour.send(messages);
  await neighbour.activate(endpoint!);
  await neighbour.recover(endpoint!);
  for (let left = kills; left > 0; left -= 1) {
    await sleep(random.between(200, 2_000));
    const worker = random.pick(workers);
    await worker.ready();
    worker.kill();
  }
  await neighbour.settle(sizes.patienceMs);
}

/** Puts an event that can't be processed between the messages of a workspace. */
export async function poison({ neighbours, stores, sizes, complaints }: ChaosCluster): Promise<void> {
  const neighbour = await neighbours.make(answering, [{}]);
  await neighbour.send(10);
  await storePoisonedEvent(stores, neighbour.workspaceId);
  await neighbour.send(10);
  await neighbour.settle(sizes.patienceMs);
  const consumers = await consumersOfParked(stores, neighbour.workspaceId);
  if (consumers.join() !== 'channels')
    complaints.push(`the poisoned event is parked for [${consumers.join()}]`);
}

function endpointsOf(count: number): object[] {
  return Array.from({ length: count }, () => ({}));
}
