-- The two database roles of the service: messaging_owner owns the tables, messaging_service works with them. An
-- administrator runs this in the service's own database, before "migrate". It can be run again: it changes only what
-- differs. A password that is not given stays as it is.
--
--   psql --set=ON_ERROR_STOP=1 --command="SET messaging.owner_password = '…'" \
--     --command="SET messaging.service_password = '…'" --file=roles.sql "$ADMINISTRATOR_URL"
DO $$
DECLARE
  role text;
  password text;
  object text;
BEGIN
  FOR role, password IN VALUES
    ('messaging_owner', current_setting('messaging.owner_password', true)),
    ('messaging_service', current_setting('messaging.service_password', true))
  LOOP
    IF to_regrole(role) IS NULL THEN EXECUTE format('CREATE ROLE %I LOGIN', role); END IF;
    IF password <> '' THEN EXECUTE format('ALTER ROLE %I PASSWORD %L', role, password); END IF;
    EXECUTE format('GRANT CONNECT ON DATABASE %I TO %I', current_database(), role);
  END LOOP;

  -- An administrator without superuser rights can give objects only to a role that they are a member of.
  IF NOT pg_has_role('messaging_owner', 'USAGE') THEN GRANT messaging_owner TO CURRENT_USER; END IF;
  EXECUTE format('GRANT USAGE, CREATE ON SCHEMA %I TO messaging_owner', current_schema());
  -- Before PostgreSQL 15 every role may make objects in "public", which the owner's statements could meet.
  IF EXISTS (SELECT FROM pg_namespace n, aclexplode(n.nspacl) a
             WHERE n.nspname = current_schema() AND a.grantee = 0 AND a.privilege_type = 'CREATE') THEN
    EXECUTE format('REVOKE CREATE ON SCHEMA %I FROM PUBLIC', current_schema());
  END IF;

  -- Gives the owner what one role made and used until now: its tables with their partitions, and its functions.
  FOR object IN
    WITH home AS (
      SELECT relnamespace AS schema, relowner AS owner FROM pg_class
      WHERE oid = to_regclass('migrations') AND relowner <> 'messaging_owner'::regrole
    )
    SELECT 'TABLE ' || c.oid::regclass FROM home JOIN pg_class c ON c.relnamespace = home.schema AND c.relowner = home.owner
    WHERE c.relkind IN ('r', 'p') AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e')
    UNION ALL
    SELECT 'FUNCTION ' || p.oid::regprocedure FROM home JOIN pg_proc p ON p.pronamespace = home.schema AND p.proowner = home.owner
    WHERE NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e')
  LOOP
    EXECUTE format('ALTER %s OWNER TO messaging_owner', object);
  END LOOP;
END $$;
