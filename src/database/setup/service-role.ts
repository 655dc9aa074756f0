import { AppError } from '../../common/app-error';
import type { Database } from '../database';
import { canChangeAudit, canMakeObjects, grantPrivileges } from './database-roles';
import type { OwnerDatabase } from '../owner-database';
import { setRoleSettings } from './role-settings';

/** Sets up the database role of the service's processes, acting as the owner of the tables. */
export class ServiceRole {
  private constructor(
    private readonly name: string,
    private readonly service: Database,
    private readonly owner: OwnerDatabase,
  ) {}

  /**
   * Compares the role of the service's connections with the role of the owner's connections.
   * @returns null when service and owner use the same role
   * @throws AppError INVALID_BODY when they lead to different databases, the owner's role does not own the
   *   tables, or the service's role could bypass privileges
   */
  static async identify(service: Database, owner: OwnerDatabase): Promise<ServiceRole | null> {
    const [name, ownerName] = await Promise.all([roleOf(service), roleOf(owner)]);
    if (name === ownerName) return null;
    // The owner's role must be the owner of existing tables, or the role that will create the tables.
    const [role] = await owner.query<{ becomesOwner: boolean; tablesOwner: string; isOwner: boolean }>(
      `SELECT pg_has_role($1, tables.owner, 'MEMBER') AS "becomesOwner", pg_get_userbyid(tables.owner) AS "tablesOwner",
         pg_has_role(tables.owner, 'USAGE') AS "isOwner"
       FROM (SELECT coalesce((SELECT relowner FROM pg_class WHERE oid = to_regclass('audit_entries')),
                             current_user::regrole::oid) AS owner) AS tables`,
      [name],
    );
    const { becomesOwner, tablesOwner, isOwner } = role!;
    if (!isOwner) throw fault(`The tables belong to the role "${tablesOwner}", not to "${ownerName}".`);
    if (becomesOwner)
      throw fault(
        `The role of DATABASE_URL, "${name}", is a superuser, or a member of "${tablesOwner}", who owns the tables, or is ` +
          'that role: no privilege binds it.',
      );
    return new ServiceRole(name, service, owner);
  }

  /**
   * Stores the role's settings, and grants it exactly the privileges that the service needs.
   * @throws AppError INVALID_BODY when the role can nevertheless change audit entries or create objects
   */
  async setUpRole(): Promise<void> {
    await setRoleSettings(this.service);
    await this.owner.transaction((tx) => grantPrivileges(tx, this.name));
    if (await canChangeAudit(this.service))
      throw new AppError(
        'INVALID_BODY',
        `The migrations are applied, but the role "${this.name}" can change audit entries through PUBLIC, or through a ` +
          'role that it is a member of. Revoke that.',
      );
    if (await canMakeObjects(this.service))
      throw new AppError(
        'INVALID_BODY',
        `The migrations are applied, but the role "${this.name}" can make objects beside the tables, which the owner ` +
          'would use. As an administrator, run deploy/roles.sql, or REVOKE CREATE ON SCHEMA public FROM PUBLIC.',
      );
  }
}

async function roleOf(database: Database | OwnerDatabase): Promise<string> {
  const [row] = await database.query<{ name: string }>('SELECT current_user AS name');
  return row!.name;
}

function fault(message: string): AppError {
  return new AppError('INVALID_BODY', `${message} Nothing was changed.`);
}
