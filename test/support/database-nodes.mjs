import pg from 'pg';
import { joinDatabases } from '../../scripts/servers/citus.mjs';

/**
 * Servers on which tests make their databases: one PostgreSQL, or the nodes of Citus, each of which has a
 * database of the same name.
 */
export class DatabaseNodes {
  /**
   * @param {string[]} urls addresses for the administrator, the coordinator's first
   * @param {string[]} roleUrls addresses of the coordinator for each role that the tests use
   */
  constructor(urls, roleUrls) {
    this.urls = urls;
    this.roleUrls = roleUrls;
  }

  /**
   * Makes an empty database.
   *
   * @param {string} name
   * @param {string} [locale] SQL for it
   */
  async create(name, locale = '') {
    await this.runOnEach(`CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'UTF8' ${locale}`);
    const databases = this.urls.map((url) => inDatabase(url, name));
    if (this.urls.length > 1) await joinDatabases(databases, this.roleUrls);
  }

  /**
   * Copies a template that was closed.
   *
   * @param {string} template
   * @param {string} name of the copy
   */
  async copy(template, name) {
    await this.runOnEach(`CREATE DATABASE ${name} TEMPLATE ${template}`);
  }

  /**
   * Ends the connections to a template, and refuses further ones: a database that is in use can't be copied,
   * and Citus has a process connected to each.
   *
   * @param {string} name
   */
  async closeTemplate(name) {
    await this.runOnEach(`ALTER DATABASE ${name} WITH ALLOW_CONNECTIONS false`);
    const endConnections = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`;
    let ended;
    do ended = await this.runOnEach(endConnections);
    while (ended.some(({ rowCount }) => rowCount !== 0));
  }

  /**
   * Drops a database, with any connections to it.
   *
   * @param {string} name
   */
  async drop(name) {
    await this.runOnEach(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  }

  /** @param {string} sql */
  runOnEach(sql) {
    return Promise.all(
      this.urls.map(async (connectionString) => {
        const client = new pg.Client({ connectionString });
        await client.connect();
        try {
          return await client.query(sql);
        } finally {
          await client.end();
        }
      }),
    );
  }
}

/**
 * Returns the address of another database of a server.
 *
 * @param {string} url
 * @param {string} name
 */
export function inDatabase(url, name) {
  return Object.assign(new URL(url), { pathname: `/${name}` }).href;
}
