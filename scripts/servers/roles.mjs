import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import pg from 'pg';

const ROLES = fileURLToPath(new URL('../../deploy/roles.sql', import.meta.url));

/**
 * Makes the two database roles, the tables' owner and the service's, and makes the first one own the present
 * tables.
 *
 * @param {string} adminUrl the database, for a superuser
 * @param {{ owner: string, service: string }} [passwords] of new roles
 */
export async function makeRoles(adminUrl, passwords) {
  const client = new pg.Client({ connectionString: adminUrl });
  await client.connect();
  try {
    for (const [name, password] of Object.entries(passwords ?? {}))
      await client.query('SELECT set_config($1, $2, false)', [`messaging.${name}_password`, password]);
    await client.query(readFileSync(ROLES, 'utf8'));
  } finally {
    await client.end();
  }
}

/**
 * Returns the addresses of a database for the service's role and for the tables' owner.
 *
 * @param {string} adminUrl
 * @param {{ owner: string, service: string }} passwords
 * @returns {{ databaseUrl: string, databaseOwnerUrl: string }}
 */
export function urlsOfRoles(adminUrl, passwords) {
  const as = (/** @type {string} */ username, /** @type {string} */ password) =>
    Object.assign(new URL(adminUrl), { username, password }).href;
  return {
    databaseUrl: as('messaging_service', passwords.service),
    databaseOwnerUrl: as('messaging_owner', passwords.owner),
  };
}
