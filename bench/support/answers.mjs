import { must } from './measure.mjs';

/**
 * Sends every request to every server once.
 *
 * @param {{ path: string, rows: null | ((rows: number) => boolean) }[]} requests
 * @returns {Promise<Set<string>>} the bodies of the responses, the same from each server to the last byte
 * @throws WrongAnswers
 */
export async function sameAnswers(urls, requests, headers) {
  const bodies = new Set();
  for (const { path, rows } of requests) {
    const answers = await Promise.all(urls.map((url) => get(url + path, headers)));
    const [{ status, body }, ...others] = answers;
    must(status === 200, `${path} was answered with ${status}: ${body}`);
    must(
      rows === null || rows(JSON.parse(body).data.length),
      `${path} has too many or too few rows: ${body}`,
    );
    for (const other of others)
      must(other.status === 200 && other.body === body, `${path} has two answers:\n${body}\n${other.body}`);
    bodies.add(body);
  }
  return bodies;
}

async function get(url, headers) {
  const response = await fetch(url, { headers });
  return { status: response.status, body: await response.text() };
}
