import { BeforeApplicationShutdown, Injectable, Logger } from '@nestjs/common';
import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { newId } from '../common/ids';
import { Periodic } from '../common/periodic';
import { RedisClient } from './redis-client';
import { RedisSubscriber } from './redis-subscriber';

/** Number of shards, in which workspaces are grouped. It exceeds the number of workers, which share them. */
const SHARDS = 64;
const INTERVAL_MS = 1_000;
/** Milliseconds after a worker's last announcement until the other workers take over its shards. */
const GONE_AFTER_MS = 3_000;
const KEY = 'workers';

/** Lua script that announces worker ARGV[1], removes workers with old announcements, and returns the rest. */
const ANNOUNCE = `
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  redis.call('ZADD', KEYS[1], now, ARGV[1])
  redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ${GONE_AFTER_MS})
  return redis.call('ZRANGE', KEYS[1], 0, -1)`;

const LEAVE = `return redis.call('ZREM', KEYS[1], ARGV[1])`;

type Handler = (message: string) => void;

/**
 * Distributes signals among the workers: each workspace belongs to a shard, and each shard to one running
 * worker. So a signal costs the same with any number of workers. For a second after a worker has started or
 * stopped, a signal may reach two workers or none. If none, a poll finds the due work.
 */
@Injectable()
export class WorkerShards implements BeforeApplicationShutdown {
  private readonly logger = new Logger(WorkerShards.name);
  private readonly id = newId();
  private readonly handlers = new Map<string, Handler>();
  private workers: string[] = [];
  private own: number[] = [];
  private isWorker = false;
  private readonly announce: (key: string, id: string) => Promise<string[]>;
  private readonly leave: (key: string, id: string) => Promise<number>;
  private readonly timer = new Periodic(
    INTERVAL_MS,
    () => this.share(),
    (error) => this.logger.debug({ err: error }, 'the workers are not known; the shards stay as they are'),
  );

  constructor(
    redis: RedisClient,
    private readonly subscriber: RedisSubscriber,
  ) {
    this.announce = redis.script('announceWorker', ANNOUNCE);
    this.leave = redis.script('leaveWorkers', LEAVE);
  }

  /**
   * Calls the handler for signals about the workspaces of this worker's shards. The first call makes this
   * process one of the workers.
   */
  listen(signal: string, handler: Handler): void {
    this.handlers.set(signal, handler);
    for (const shard of this.own) this.subscribe(signal, shard);
    if (this.isWorker) return;
    this.isWorker = true;
    this.timer.start(0);
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.timer.stop();
    if (this.isWorker) await this.leave(KEY, this.id).catch(() => undefined);
  }

  private async share(): Promise<void> {
    const workers = (await this.announce(KEY, this.id)).sort();
    if (isDeepStrictEqual(workers, this.workers)) return;
    const before = this.own;
    this.workers = workers;
    this.own = allShards().filter((shard) => ownerOf(shard, workers) === this.id);
    for (const signal of this.handlers.keys()) {
      for (const shard of without(this.own, before)) this.subscribe(signal, shard);
      for (const shard of without(before, this.own))
        this.subscriber.unsubscribe(channelOfShard(signal, shard), this.handlers.get(signal));
    }
  }

  private subscribe(signal: string, shard: number): void {
    void this.subscriber.subscribe(channelOfShard(signal, shard), this.handlers.get(signal)!);
  }
}

export function channelOf(signal: string, tenantId: string): string {
  return channelOfShard(signal, hash(tenantId) % SHARDS);
}

function channelOfShard(signal: string, shard: number): string {
  return `${signal}:${shard}`;
}

function allShards(): number[] {
  return Array.from({ length: SHARDS }, (_, shard) => shard);
}

function without(shards: number[], others: number[]): number[] {
  return shards.filter((shard) => !others.includes(shard));
}

/**
 * Returns the worker with the highest hash for a shard (rendezvous hashing): when a worker starts or stops,
 * only that worker's shards change their owner.
 */
function ownerOf(shard: number, workers: string[]): string | undefined {
  let [owner, highest]: [string | undefined, number] = [undefined, -1];
  for (const worker of workers) {
    const weight = hash(`${shard} ${worker}`);
    if (weight > highest) [owner, highest] = [worker, weight];
  }
  return owner;
}

function hash(text: string): number {
  return createHash('sha256').update(text).digest().readUInt32BE();
}
