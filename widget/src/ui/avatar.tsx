import { initialsOf } from './text';

/** Draws the initials of the agent's name. */
export function Avatar({ name }: { name: string | null }) {
  return name ? (
    <span class="avatar" aria-hidden="true">
      {initialsOf(name)}
    </span>
  ) : null;
}
