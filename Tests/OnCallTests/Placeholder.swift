// OnCall
