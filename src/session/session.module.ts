import { ContainerModule } from 'inversify';
import { defineModule } from '../kernel/index.js';
import { ListenerNotifications, NotificationListeners } from './listener-notifications.js';
import { LiveSessionStore } from './live-session-store.js';
import { NotificationListener, Notifications } from './notifications.js';
import { SessionStore } from './session.js';

/** Provides {@link SessionStore} and {@link Notifications}. Consumes `SessionRepository` and `NotificationListener`s. */
export const sessionModule = defineModule({
  name: 'session',
  runtime: new ContainerModule(({ bind }) => {
    bind(SessionStore).to(LiveSessionStore);
    bind(Notifications).to(ListenerNotifications);
    bind(NotificationListeners).toDynamicValue((context) => () => context.getAll(NotificationListener));
  }),
});
