import pg from 'pg';

/** Drops this run's databases, whose names all begin with the template's, and ends the servers. */
export default async function tearDown() {
  const { DATABASE_URL: sharedServer, TEST_TEMPLATE_DATABASE: template } = process.env;
  if (sharedServer) await dropDatabases(sharedServer, template);
  const { testServers } = /** @type {{ testServers?: import('../scripts/servers.mjs').Servers }} */ (
    globalThis
  );
  await testServers?.stop();
}

/**
 * @param {string} connectionString
 * @param {string} [template]
 */
async function dropDatabases(connectionString, template) {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    const { rows } = await client.query('SELECT datname FROM pg_database WHERE starts_with(datname, $1)', [
      template,
    ]);
    for (const { datname } of rows) await client.query(`DROP DATABASE "${datname}" WITH (FORCE)`);
  } finally {
    await client.end();
  }
}
