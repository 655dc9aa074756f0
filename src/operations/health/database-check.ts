import { Injectable, Logger, OnApplicationBootstrap, Optional } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { DATA_SOURCE, Database } from '../../database/database';
import { canChangeAudit, missingPrivileges, ownsTables } from '../../database/setup/database-roles';
import { OwnerDatabase } from '../../database/owner-database';
import { areMigrationsApplied } from '../../database/setup/migration-state';
import { missingRoleSettings } from '../../database/setup/role-settings';

/** Fault of a database role that lacks privileges or settings. The message must not contain internals. */
export interface RoleFault {
  field: 'privileges' | 'settings';
  message: string;
}

export interface DatabaseState {
  migrations: 'applied' | 'pending';
  roleFaults: RoleFault[];
}

/** Checks that the migrations are applied, and that the database roles have their privileges and settings. */
@Injectable()
export class DatabaseCheck implements OnApplicationBootstrap {
  private readonly logger = new Logger(DatabaseCheck.name);
  private logged = '';
  private isComplete = false;

  constructor(
    private readonly database: Database,
    @InjectDataSource(DATA_SOURCE) private readonly dataSource: DataSource,
    @Optional() private readonly owner?: OwnerDatabase,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    try {
      if (await canChangeAudit(this.database))
        this.logger.warn('the audit log is not protected: the database role of the service can change it');
      await this.findFaults();
    } catch (error) {
      this.logger.warn({ err: error as Error }, 'failed to check the database roles');
    }
  }

  /**
   * Checks migrations and roles. A result without faults is stored until a statement fails for lack of a
   * privilege. It is not checked again for other reasons, because new tables lack privileges while `migrate`
   * runs.
   */
  async check(): Promise<DatabaseState> {
    if (this.database.pool.hasLackedPrivilege()) this.isComplete = false;
    if (this.isComplete) return { migrations: 'applied', roleFaults: [] };
    const roleFaults = await this.findFaults();
    // Without its privileges, the role may be unable to read which migrations are applied.
    this.isComplete = roleFaults.length === 0 && (await areMigrationsApplied(this.dataSource));
    return { migrations: this.isComplete ? 'applied' : 'pending', roleFaults };
  }

  /**
   * Lists the faults of both database roles. The route that shows them is public, so only the log contains
   * the names of the missing privileges and settings.
   */
  private async findFaults(): Promise<RoleFault[]> {
    const missing = await missingPrivileges(this.database, null);
    const ownerFault = this.owner && (await this.findOwnerFault(this.owner));
    const settings = await this.findMissingSettings(this.database);
    if (this.owner && !ownerFault) settings.push(...(await this.findMissingSettings(this.owner)));
    this.log({
      ...(missing.length > 0 && { missing }),
      ...(ownerFault && { ownerFault }),
      ...(settings.length > 0 && { settings }),
    });
    return [
      ...(missing.length > 0 ? [fault('privileges', "of the service's database role are missing")] : []),
      ...(ownerFault ? [fault('privileges', "of the tables' owner are missing")] : []),
      ...(settings.length > 0 ? [fault('settings', 'of the database roles are missing: run "migrate"')] : []),
    ];
  }

  private async findMissingSettings(database: Database | OwnerDatabase): Promise<string[]> {
    const missing = await missingRoleSettings(database);
    // The settings may have been stored after these connections were opened. New connections have them.
    if (missing.length > 0) await database.renewConnections();
    return missing;
  }

  private async findOwnerFault(owner: OwnerDatabase): Promise<string | null> {
    try {
      return (await ownsTables(owner)) ? null : 'the role is not the owner of the tables';
    } catch (error) {
      return (error as Error).message;
    }
  }

  /** Logs the database roles' faults if they have changed, so that frequent checks do not fill the log. */
  private log(faults: object): void {
    const text = JSON.stringify(faults);
    if (text !== this.logged && text !== '{}')
      this.logger.error(faults, 'database roles lack privileges or settings');
    this.logged = text;
  }
}

function fault(field: RoleFault['field'], message: string): RoleFault {
  return { field, message };
}
