/** Version of this package. The build replaces it with the version in package.json. */
export const VERSION = '0.0.0';
