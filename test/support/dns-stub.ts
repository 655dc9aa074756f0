import { createSocket, RemoteInfo, Socket } from 'node:dgram';
import * as ipaddr from 'ipaddr.js';
import { forgetStop, stopAtEnd } from './stop-at-end';

type Family = 'A' | 'AAAA';
/**
 * Answer to a question: addresses, an error, no answer at all, or none until the name gets another one. An
 * empty list is NODATA.
 */
export type StubAnswer = string[] | 'NXDOMAIN' | 'SERVFAIL' | 'REFUSED' | 'SILENCE' | 'WAIT';

const TYPES: Record<number, Family> = { 1: 'A', 28: 'AAAA' };
const RCODES = { SERVFAIL: 2, NXDOMAIN: 3, REFUSED: 5 };
const HEADER_BYTES = 12;

/**
 * Name server on a local UDP port that gives the answers that the test has set, and records the questions.
 */
export class DnsStub {
  /** Questions asked so far, as `A example.com`. */
  readonly questions: string[] = [];
  /** Questions whose answers are `WAIT`. */
  private readonly waiting: [query: Buffer, peer: RemoteInfo][] = [];
  private readonly zones = new Map<string, Partial<Record<Family, StubAnswer>> & { alias?: string }>();

  private constructor(private readonly socket: Socket) {
    socket.on('message', (query, peer) => {
      const { family, name } = readQuestion(query);
      this.questions.push(`${family} ${name}`);
      this.reply(query, peer);
    });
  }

  static async start(): Promise<DnsStub> {
    const socket = createSocket('udp4');
    await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
    const stub = new DnsStub(socket);
    return stopAtEnd(stub, () => stub.stop());
  }

  /** Address of the stub, in the form that a resolver takes. */
  get server(): string {
    return `127.0.0.1:${this.socket.address().port}`;
  }

  /**
   * Sets the answers for a name. An address family that is left out has no data; `alias` puts a CNAME before
   * the addresses.
   */
  set(name: string, answers: Partial<Record<Family, StubAnswer>> & { alias?: string }): void {
    this.zones.set(name, answers);
    for (const [query, peer] of this.waiting.splice(0)) this.reply(query, peer);
  }

  async stop(): Promise<void> {
    if (!forgetStop(this)) return;
    await new Promise<void>((resolve) => this.socket.close(resolve));
  }

  private reply(query: Buffer, peer: RemoteInfo): void {
    const { family, name, end } = readQuestion(query);
    const zone = this.zones.get(name);
    const answer = zone ? ((family && zone[family]) ?? []) : 'NXDOMAIN';
    if (answer === 'WAIT') this.waiting.push([query, peer]);
    if (answer === 'WAIT' || answer === 'SILENCE') return;

    const records: Buffer[] = [];
    if (Array.isArray(answer)) {
      if (zone?.alias) records.push(record(name, 5, encodeName(zone.alias)));
      const owner = zone?.alias ?? name;
      for (const address of answer) {
        records.push(
          record(owner, address.includes(':') ? 28 : 1, Buffer.from(ipaddr.parse(address).toByteArray())),
        );
      }
    }
    const header = Buffer.alloc(HEADER_BYTES);
    query.copy(header, 0, 0, 2);
    header.writeUInt16BE(0x8180 | (Array.isArray(answer) ? 0 : RCODES[answer]), 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(records.length, 6);
    const reply = Buffer.concat([header, query.subarray(HEADER_BYTES, end + 4), ...records]);
    this.socket.send(reply, peer.port, peer.address);
  }
}

function readQuestion(query: Buffer): { family: Family | undefined; name: string; end: number } {
  const { name, end } = readName(query, HEADER_BYTES);
  return { family: TYPES[query.readUInt16BE(end)], name, end };
}

function readName(message: Buffer, start: number): { name: string; end: number } {
  const labels: string[] = [];
  let offset = start;
  for (;;) {
    const length = message.readUInt8(offset);
    if (length === 0) return { name: labels.join('.').toLowerCase(), end: offset + 1 };
    labels.push(message.toString('latin1', offset + 1, offset + 1 + length));
    offset += 1 + length;
  }
}

function encodeName(name: string): Buffer {
  return Buffer.concat([
    ...name.split('.').map((label) => Buffer.from(String.fromCharCode(label.length) + label, 'latin1')),
    Buffer.of(0),
  ]);
}

/** Encodes a record. Its TTL is 0, so that no resolver on the way may remember it. */
function record(owner: string, type: number, data: Buffer): Buffer {
  const fixed = Buffer.alloc(10);
  fixed.writeUInt16BE(type, 0);
  fixed.writeUInt16BE(1, 2);
  fixed.writeUInt16BE(data.length, 8);
  return Buffer.concat([encodeName(owner), fixed, data]);
}
