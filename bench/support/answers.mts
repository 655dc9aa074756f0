import { itemAt } from './items.mts';
import { must } from './measure.mts';
import type { Read } from './requests.mts';

/**
 * Sends every request to every server once. Checks that the servers' responses are equal to the byte, and
 * returns their bodies.
 *
 * @throws WrongAnswers
 */
export async function sameAnswers(
  urls: string[],
  requests: Read[],
  headers: Record<string, string>,
): Promise<Set<string>> {
  const bodies = new Set<string>();
  for (const { path, rows } of requests) {
    const answers = await Promise.all(urls.map((url) => get(url + path, headers)));
    const { status, body } = itemAt(answers, 0);
    must(status === 200, `${path} was answered with ${status}: ${body}`);
    must(
      rows === null || rows((JSON.parse(body) as { data: unknown[] }).data.length),
      `${path} has too many or too few rows: ${body}`,
    );
    for (const other of answers.slice(1))
      must(other.status === 200 && other.body === body, `${path} has two answers:\n${body}\n${other.body}`);
    bodies.add(body);
  }
  return bodies;
}

async function get(url: string, headers: Record<string, string>) {
  const response = await fetch(url, { headers });
  return { status: response.status, body: await response.text() };
}
