/** Put in by build.mjs: the app's file below the loader's folder. */
declare const APP_PATH: string;
