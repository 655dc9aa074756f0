/** Path of the app's file below the loader's folder; build.mjs inserts it. */
declare const APP_PATH: string;
